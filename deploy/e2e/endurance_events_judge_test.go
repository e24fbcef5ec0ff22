//go:build faults

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// judge holds what a tenant's readers got against what its writers did.
type judge struct {
	tenant string
	// feed is the tenant's whole feed, read from the start when all was quiet.
	feed []seen
	// orders and links are what the services hold, by id.
	orders, links map[string]snapshot
	deeds         []deed
	wrong         []string
}

// manyOf bounds how often the same fault is told.
const manyOf = 10

func (j *judge) complain(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// expected are the marks of all changes that were committed: each version of an order, each change of a link, and each
// message. A message leaves no trace in its order, but each one was answered.
func (j *judge) expected() map[mark]bool {
	marks := map[mark]bool{}
	for _, o := range j.orders {
		for version := range o.Version + 1 {
			marks[orderMark(o.ID, version)] = true
		}
	}
	for _, l := range j.links {
		marks[linkMark(l.ID, "created")] = true
		for change, at := range map[string]*string{"approved": l.ApprovedAt, "claimed": l.ClaimedAt, "cancelled": l.CancelledAt} {
			if at != nil {
				marks[linkMark(l.ID, change)] = true
			}
		}
	}
	for _, d := range j.deeds {
		for _, m := range d.marks {
			if strings.HasPrefix(string(m), "message ") {
				marks[m] = true
			}
		}
	}
	return marks
}

func (j *judge) all() []string {
	j.once()
	j.answered()
	j.orderOfRecords()
	j.causalOrder()
	return j.wrong
}

// once demands each committed change exactly once and nothing else.
func (j *judge) once() {
	expected, times, ids := j.expected(), map[mark]int{}, map[string]bool{}
	for _, e := range j.feed {
		times[e.mark]++
		if ids[e.id] {
			j.complain("twice: event %s", e.id)
		}
		ids[e.id] = true
		if !expected[e.mark] {
			j.complain("never happened: %s, event %s", e.mark, e.raw)
		}
	}
	for m := range expected {
		if n := times[m]; n == 0 {
			j.complain("missing: %s", m)
		} else if n > 1 {
			j.complain("twice: %s stands %d times", m, n)
		}
	}
}

// answered demands that what was answered is what the services hold and what the events say.
func (j *judge) answered() {
	expected := j.expected()
	events := map[mark]seen{}
	for _, e := range j.feed {
		events[e.mark] = e
	}
	for _, d := range j.deeds {
		for _, m := range d.marks {
			if !expected[m] {
				j.complain("forgotten: %s was answered and is not in its service", m)
			}
			e, found := events[m]
			if answer, told := d.data[m]; told && found && !sameJSON(answer, e.record.raw) {
				j.complain("other data: %s was answered %s and its event says %s", m, answer, e.record.raw)
			}
		}
	}
	for _, e := range j.feed {
		if e.kind != "order.message_posted" && e.occurredAt != e.record.UpdatedAt {
			j.complain("other time: %s occurred at %s, its record says %s", e.mark, e.occurredAt, e.record.UpdatedAt)
		}
	}
}

func sameJSON(a, b string) bool {
	var left, right any
	return a == b || json.Unmarshal([]byte(a), &left) == nil && json.Unmarshal([]byte(b), &right) == nil && reflect.DeepEqual(left, right)
}

// orderOfRecords demands the order of the versions of each order and of the changes of each link.
func (j *judge) orderOfRecords() {
	steps := map[string]int64{"created": 0, "approved": 1, "claimed": 2, "cancelled": 2}
	last := map[string]int64{}
	for _, e := range j.feed {
		if e.kind == "order.message_posted" {
			if _, placed := last[e.subject]; !placed {
				j.complain("order of a record: %s stands before its order", e.mark)
			}
			continue
		}
		step := e.record.Version
		if change, isLink := strings.CutPrefix(e.kind, "personal_link."); isLink {
			step = steps[change]
		}
		if before, again := last[e.subject]; again && before >= step {
			j.complain("order of a record: %s stands after step %d", e.mark, before)
		}
		last[e.subject] = step
	}
}

// causalOrder demands that what was answered before another change was requested stands before it: of any two changes,
// in whichever services and by whichever writers.
func (j *judge) causalOrder() {
	by := map[mark]deed{}
	for _, d := range j.deeds {
		for _, m := range d.marks {
			by[m] = d
		}
	}
	var newest time.Time
	var newestMark mark
	for _, e := range j.feed {
		d, known := by[e.mark]
		if !known {
			continue
		}
		if d.answered.Before(newest) {
			j.complain("causal order: %s was answered %s before %s was requested and stands behind it",
				e.mark, newest.Sub(d.answered), newestMark)
		}
		if d.asked.After(newest) {
			newest, newestMark = d.asked, e.mark
		}
	}
}

// visible says whether a key may see the event in the feed.
func (j *judge) visible(r reader, e seen) bool {
	scope := commonv1.Scope_SCOPE_PERSONAL_LINKS
	if strings.HasPrefix(e.kind, "order.") {
		scope = commonv1.Scope_SCOPE_ORDERS
	}
	brand := e.record.BrandID
	if e.kind == "order.message_posted" {
		brand = j.orders[e.subject].BrandID
	}
	return r.tenant == j.tenant && slices.Contains(r.scopes, scope) && (r.brand == "" || r.brand == brand)
}

// origins gives the keys that made the changes.
func (j *judge) origins() map[mark]int32 {
	keys := map[mark]int32{}
	for _, d := range j.deeds {
		for _, m := range d.marks {
			keys[m] = d.key
		}
	}
	return keys
}

// inFeedOf are the events that the key finds in the feed: all it may see but its own messages.
func (j *judge) inFeedOf(r reader) []string {
	var ids []string
	origins := j.origins()
	for _, e := range j.feed {
		own := e.kind == "order.message_posted" && origins[e.mark] == r.keyID
		if j.visible(r, e) && !own {
			ids = append(ids, e.id)
		}
	}
	return ids
}

// sentTo are the events that are sent to the key: all it may see but its own changes.
func (j *judge) sentTo(r reader) []string {
	var ids []string
	origins := j.origins()
	for _, e := range j.feed {
		if j.visible(r, e) && origins[e.mark] != r.keyID {
			ids = append(ids, e.id)
		}
	}
	return ids
}

// followed demands that the follower has read what stands in the feed now, in the same order.
func (j *judge) followed(f *follower) []string {
	f.lock.Lock()
	defer f.lock.Unlock()
	var got []string
	for _, e := range f.events {
		got = append(got, e.id)
	}
	if want := j.inFeedOf(f.reader); !slices.Equal(want, got) {
		lost, extra := difference(want, got)
		return []string{fmt.Sprintf("follower %s: has %d events, the feed has %d for it; skipped %v, foreign or twice %v",
			f.name, len(got), len(want), lost, extra)}
	}
	return nil
}

// delivered demands each event that is for the receiver, as it stands in the feed, and no other.
func (j *judge) delivered(e *endpoint) []string {
	e.lock.Lock()
	defer e.lock.Unlock()
	bodies, want := map[string]string{}, j.sentTo(e.reader)
	for _, event := range j.feed {
		bodies[event.id] = event.raw
	}
	var wrong []string
	lost, extra := difference(want, slices.Collect(maps.Keys(e.bodies)))
	if len(lost)+len(extra) > 0 {
		wrong = append(wrong, fmt.Sprintf("receiver %s: did not get %v, must not have got %v", e.name, lost, extra))
	}
	for id, body := range e.bodies {
		if body != bodies[id] {
			wrong = append(wrong, fmt.Sprintf("receiver %s: body and feed item differ: %s and %s", e.name, body, bodies[id]))
		}
	}
	return wrong
}

func difference(want, got []string) (lost, extra []string) {
	left := map[string]int{}
	for _, id := range want {
		left[id]++
	}
	for _, id := range got {
		if left[id]--; left[id] < 0 {
			extra = append(extra, id)
		}
	}
	for id, n := range left {
		if n > 0 {
			lost = append(lost, id)
		}
	}
	return lost[:min(len(lost), manyOf)], extra[:min(len(extra), manyOf)]
}
