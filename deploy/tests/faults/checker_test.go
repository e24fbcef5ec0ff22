//go:build faults

package faults_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// checker compares the events that a tenant's readers received with the responses that its writers got.
type checker struct {
	*results
	tenant string
	// began and ended are the times of the whole run, for checks without a more exact time.
	began, ended time.Time
	// feed is the tenant's whole feed, read from the start at the end of the run; seenAt is when each event was first seen.
	feed   []event
	seenAt map[string]time.Time
	// orders and links are the stored records by id.
	orders, links map[string]snapshot
	// messages are the messages that the public API shows, by id, with their times.
	messages map[string]time.Time
	// brands are the brands of all orders in the feed, which has orders too that a restored database has lost.
	brands map[string]string
	// paced are the orders that advance by themselves, with the status at which each stops.
	paced   map[string]string
	changes []change
	byEvent map[eventName]change
	// redriven is when the changes were made that were read again from the outboxes.
	redriven period
}

// expected are the events of all committed changes: each version of an order, each change of a link, and each message.
func (c *checker) expected() map[eventName]bool {
	events := map[eventName]bool{}
	for _, o := range c.orders {
		for version := range o.Version + 1 {
			events[orderEvent(o.ID, version)] = true
		}
	}
	for _, l := range c.links {
		events[linkEvent(l.ID, "created")] = true
		for change, at := range map[string]*string{"approved": l.ApprovedAt, "claimed": l.ClaimedAt, "cancelled": l.CancelledAt} {
			if at != nil {
				events[linkEvent(l.ID, change)] = true
			}
		}
	}
	for id := range c.messages {
		events[messageEvent(id)] = true
	}
	return events
}

// span is the time from the request of a change to its event in the feed.
func (c *checker) span(e eventName, id string) (from, to time.Time) {
	from, to = c.began, c.ended
	if of, known := c.byEvent[e]; known {
		from = of.requested
	}
	if at, known := c.seenAt[id]; known {
		to = at
	}
	return from, to
}

// checkEffects checks that the services have stored exactly the records of the responses. Any other record is the second effect
// of a request, unless checkSteps accepts it.
func (c *checker) checkEffects() {
	expected := c.expected()
	for _, of := range c.changes {
		for _, e := range of.events {
			if c.excused(e) {
				continue
			}
			c.require(expected[e], effect, of.requested, of.answered, "lost effect: %s was answered and is not in its service", e)
		}
	}
	for e := range expected {
		if _, known := c.byEvent[e]; !known && !c.excused(e) && c.paced[e.record()] == "" {
			at := c.createdAt(e)
			c.failed(effect, at, at, "second effect: %s was never answered", e)
		}
	}
}

func (c *checker) createdAt(e eventName) time.Time {
	id := e.record()
	for _, records := range []map[string]snapshot{c.orders, c.links} {
		if at, err := time.Parse(time.RFC3339Nano, records[id].CreatedAt); err == nil {
			return at
		}
	}
	if at, posted := c.messages[id]; posted {
		return at
	}
	return c.began
}

// checkContent checks that an event contains the record of the response, the record's time, and no personal data.
func (c *checker) checkContent() {
	for _, e := range c.feed {
		from, to := c.span(e.name, e.id)
		if answer, known := c.byEvent[e.name].data[e.name]; known && !c.excused(e.name) && !sameJSON(answer, e.record.raw) {
			c.failed(answers, from, to, "other data: %s was answered %s, its event has %s", e.name, answer, e.record.raw)
		}
		if e.kind != messagePosted && e.occurredAt != e.record.UpdatedAt {
			c.failed(answers, from, to, "other time: %s occurred at %s, its record has %s", e.name, e.occurredAt, e.record.UpdatedAt)
		}
		c.check(leak, from, to, findPersonal("event "+e.id, e.raw))
	}
}

func sameJSON(a, b string) bool {
	var left, right any
	return a == b ||
		json.Unmarshal([]byte(a), &left) == nil && json.Unmarshal([]byte(b), &right) == nil && reflect.DeepEqual(left, right)
}

// visible reports whether a key may see the event in the feed.
func (c *checker) visible(r reader, e event) bool {
	scope := commonv1.Scope_SCOPE_PERSONAL_LINKS
	if strings.HasPrefix(e.kind, orderEvents) {
		scope = commonv1.Scope_SCOPE_ORDERS
	}
	brand := e.record.BrandID
	if e.kind == messagePosted {
		brand = c.brands[e.subject]
	}
	return r.tenant == c.tenant && slices.Contains(r.scopes, scope) && (r.brand == "" || r.brand == brand)
}
