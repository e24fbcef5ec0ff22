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

// judge holds what a tenant's readers got against what its writers did.
type judge struct {
	*verdict
	tenant string
	// began and ended are of the whole run, for what cannot be told to have been at one time.
	began, ended time.Time
	// feed is the tenant's whole feed, read from the start when all was quiet; seenAt is when each event was seen first.
	feed   []seen
	seenAt map[string]time.Time
	// orders and links are what the services hold, by id.
	orders, links map[string]snapshot
	// messages are those that the public API shows, by id.
	messages map[string]time.Time
	deeds    []deed
	by       map[mark]deed
}

func (j *judge) index() {
	j.by = map[mark]deed{}
	for _, d := range j.deeds {
		for _, m := range d.marks {
			j.by[m] = d
		}
	}
}

// expected are the marks of all changes that were committed: each version of an order, each change of a link, and each
// message.
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
	for id := range j.messages {
		marks[messageMark(id)] = true
	}
	return marks
}

// span is when a change was under way, from its request to its event in the feed.
func (j *judge) span(m mark, eventID string) (from, to time.Time) {
	from, to = j.began, j.ended
	if d, known := j.by[m]; known {
		from = d.asked
	}
	if at, known := j.seenAt[eventID]; known {
		to = at
	}
	return from, to
}

// effects demands that what was answered is what the services hold, and that they hold nothing else: what nobody was
// answered is the second effect of some request.
func (j *judge) effects() {
	expected := j.expected()
	for _, d := range j.deeds {
		for _, m := range d.marks {
			if expected[m] {
				j.kept(effect, d.asked, d.answered)
			} else {
				j.broken(effect, d.asked, d.answered, "forgotten: %s was answered and is not in its service", m)
			}
		}
	}
	for m := range expected {
		if _, known := j.by[m]; !known {
			at := j.createdAt(m)
			j.broken(effect, at, at, "double: %s was the answer to nobody", m)
		}
	}
}

func (j *judge) createdAt(m mark) time.Time {
	id := strings.Fields(string(m))[1]
	for _, records := range []map[string]snapshot{j.orders, j.links} {
		if at, err := time.Parse(time.RFC3339Nano, records[id].CreatedAt); err == nil {
			return at
		}
	}
	if at, posted := j.messages[id]; posted {
		return at
	}
	return j.began
}

// facts demands that an event says what was answered, and names the time of its record.
func (j *judge) facts() {
	for _, e := range j.feed {
		from, to := j.span(e.mark, e.id)
		if answer, told := j.by[e.mark].data[e.mark]; told && !sameJSON(answer, e.record.raw) {
			j.broken(answers, from, to, "other data: %s was answered %s and its event says %s", e.mark, answer, e.record.raw)
		}
		if e.kind != messagePosted && e.occurredAt != e.record.UpdatedAt {
			j.broken(answers, from, to, "other time: %s occurred at %s, its record says %s", e.mark, e.occurredAt, e.record.UpdatedAt)
		}
		j.hold(leak, from, to, personal("event "+e.id, e.raw))
	}
}

func sameJSON(a, b string) bool {
	var left, right any
	return a == b || json.Unmarshal([]byte(a), &left) == nil && json.Unmarshal([]byte(b), &right) == nil && reflect.DeepEqual(left, right)
}

// visible says whether a key may see the event in the feed.
func (j *judge) visible(r reader, e seen) bool {
	scope := commonv1.Scope_SCOPE_PERSONAL_LINKS
	if strings.HasPrefix(e.kind, ofOrders) {
		scope = commonv1.Scope_SCOPE_ORDERS
	}
	brand := e.record.BrandID
	if e.kind == messagePosted {
		brand = j.orders[e.subject].BrandID
	}
	return r.tenant == j.tenant && slices.Contains(r.scopes, scope) && (r.brand == "" || r.brand == brand)
}
