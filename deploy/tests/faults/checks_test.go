//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// checkExactlyOnce requires that each committed change is in the feed exactly once, and nothing else.
func (c *checker) checkExactlyOnce() {
	expected, times, ids := c.expected(), map[eventName]int{}, map[string]bool{}
	for _, e := range c.feed {
		from, to := c.span(e.name, e.id)
		times[e.name]++
		switch {
		case ids[e.id]:
			c.failed(duplicate, from, to, "duplicate: event %s", e.id)
		case c.excused(e.name):
			c.passed(duplicate, from, to)
		case times[e.name] > 1:
			c.failed(duplicate, from, to, "duplicate: %s", e.name)
		case !expected[e.name]:
			c.failed(duplicate, from, to, "never happened: %s, event %s", e.name, e.raw)
		default:
			c.passed(duplicate, from, to)
		}
		ids[e.id] = true
		if times[e.name] == 1 {
			c.passed(lost, from, to)
		}
	}
	for e := range expected {
		if times[e] == 0 {
			from, to := c.span(e, "")
			c.failed(lost, from, to, "missing: %s", e)
		}
	}
}

// checkRecordOrder requires that the changes of each order and each link are in the order of their versions.
func (c *checker) checkRecordOrder() {
	last := map[string]int64{}
	for _, e := range c.feed {
		from, to := c.span(e.name, e.id)
		before, known := last[e.subject]
		switch {
		case c.excused(e.name):
		case e.kind == messagePosted && !known:
			c.failed(order, from, to, "order of a record: %s is before its order", e.name)
		case e.kind != messagePosted && known && before >= e.step():
			c.failed(order, from, to, "order of a record: %s is after step %d", e.name, before)
		}
		if e.kind != messagePosted {
			last[e.subject] = e.step()
		}
	}
}

// checkCausalOrder checks any two changes, in all services and by all writers: if one was answered before the other was
// requested, it must be first in the feed. Changes that were read again from the outboxes, one after the other, are in this
// order only with those of the same outbox and with all others.
func (c *checker) checkCausalOrder() {
	type newest struct {
		requested time.Time
		name      eventName
	}
	byOutbox := map[string]newest{}
	for _, e := range c.feed {
		of, known := c.byEvent[e.name]
		if !known || c.excused(e.name) {
			continue
		}
		from, to := c.span(e.name, e.id)
		outbox := c.redrivenFrom(e, of)
		for other, n := range byOutbox {
			if outbox == "" || other == "" || other == outbox {
				c.require(!of.answered.Before(n.requested), order, from, to,
					"causal order: %s was answered %s before %s was requested, but comes after it", e.name, n.requested.Sub(of.answered), n.name)
			}
		}
		if of.requested.After(byOutbox[outbox].requested) {
			byOutbox[outbox] = newest{of.requested, e.name}
		}
	}
}

// period is a time span.
type period struct{ from, to time.Time }

// redrivenFrom names the outbox from which a change may have been read again, or nothing.
func (c *checker) redrivenFrom(e event, of change) string {
	if of.answered.Before(c.redriven.from) || of.requested.After(c.redriven.to) {
		return ""
	}
	if strings.HasPrefix(e.kind, orderEvents) {
		return "orders"
	}
	return "links"
}

// feedOf returns the events of the key's feed: all that it may see, except its own messages.
func (c *checker) feedOf(r reader) (events []event) {
	for _, e := range c.feed {
		ownMessage := e.kind == messagePosted && c.byEvent[e.name].keyID == r.keyID
		if c.visible(r, e) && !ownMessage {
			events = append(events, e)
		}
	}
	return events
}

// checkFollower requires that the follower has read the events of its feed in the same order.
func (c *checker) checkFollower(f *follower) {
	f.lock.Lock()
	defer f.lock.Unlock()
	want := c.feedOf(f.reader)
	allowed := map[string]bool{}
	for _, e := range want {
		allowed[e.id] = true
	}
	at := 0
	for _, e := range f.events {
		from, to := c.span(e.name, e.id)
		switch {
		case !allowed[e.id]:
			c.failed(leak, from, to, "follower %s: got %s, which is not for it", f.name, e.name)
		case at < len(want) && want[at].id == e.id:
			c.passed(leak, from, to)
			c.passed(cursor, from, to)
		case at < len(want):
			c.failed(cursor, from, to, "follower %s: got %s instead of %s", f.name, e.name, want[at].name)
		}
		if allowed[e.id] {
			at++
		}
	}
	for _, e := range want[min(at, len(want)):] {
		from, to := c.span(e.name, e.id)
		c.failed(cursor, from, to, "follower %s: did not get %s", f.name, e.name)
	}
}

// sentTo returns the events that are sent to the key: all that it may see, except its own changes.
func (c *checker) sentTo(r reader) (events []event) {
	for _, e := range c.feed {
		if c.visible(r, e) && c.byEvent[e.name].keyID != r.keyID {
			events = append(events, e)
		}
	}
	return events
}

// checkDelivery checks that the endpoint received exactly the events for it, each equal to the feed item.
func (c *checker) checkDelivery(to *endpoint) {
	to.lock.Lock()
	defer to.lock.Unlock()
	wanted := map[string]bool{}
	for _, e := range c.sentTo(to.reader) {
		wanted[e.id] = true
		from, _ := c.span(e.name, e.id)
		body, arrived := to.bodies[e.id]
		switch {
		case !arrived:
			c.failed(delivery, from, c.ended, "receiver %s: did not get %s", to.name, e.name)
		case body != e.raw:
			c.failed(delivery, from, to.at[e.id], "receiver %s: body and feed item differ: %s and %s", to.name, body, e.raw)
		default:
			c.passed(delivery, from, to.at[e.id])
		}
	}
	for id, body := range to.bodies {
		if !wanted[id] {
			c.failed(leak, to.at[id], to.at[id], "receiver %s: got an event that is not for it: %s", to.name, body)
		}
	}
}

// units is the stock of the campaign, which is less than its writers want.
const units = 8

// checkOversold checks that at no time more units were certainly held than exist.
func (h *history) checkOversold(r *results) {
	h.lock.Lock()
	defer h.lock.Unlock()
	type step struct {
		at    time.Time
		units int
	}
	var steps []step
	for _, hold := range h.holds {
		steps = append(steps, step{hold.from, 1})
		if !hold.until.IsZero() {
			steps = append(steps, step{hold.until, -1})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	held := 0
	for _, s := range steps {
		held += s.units
		r.require(held <= units, stock, s.at, s.at, "oversold: %d units of %d were held", held, units)
	}
}

// remainingUnits reads the remaining units from the API.
func remainingUnits(ctx context.Context, by *client, campaign string) (int, bool) {
	a, ok := by.send(ctx, call{method: http.MethodGet, path: "/campaigns/" + campaign})
	var read struct {
		Offerings []struct {
			SKUs []struct {
				StockRemaining int `json:"stockRemaining"`
			} `json:"skus"`
		} `json:"offerings"`
	}
	if !ok || json.Unmarshal([]byte(a.body), &read) != nil || len(read.Offerings) == 0 {
		return 0, false
	}
	return read.Offerings[0].SKUs[0].StockRemaining, true
}

// watchStock checks the remaining units during the run.
func watchStock(ctx context.Context, by *client, campaign string) {
	for ctx.Err() == nil {
		began := time.Now()
		if n, ok := remainingUnits(context.WithoutCancel(ctx), by, campaign); ok {
			by.results.require(n >= 0 && n <= units, stock, began, time.Now(), "%d units of %d remain", n, units)
		}
		sleep(ctx, time.Second)
	}
}

// heldUnits counts the orders that have a unit of the campaign.
func heldUnits(orders map[string]snapshot, campaign string) (n int) {
	for _, o := range orders {
		if o.CampaignID != nil && *o.CampaignID == campaign && o.Status != "CANCELLED" {
			n++
		}
	}
	return n
}
