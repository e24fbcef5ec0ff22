//go:build faults

package faults_test

import (
	"time"
)

// once demands each committed change exactly once in the feed, and nothing else.
func (j *judge) once() {
	expected, times, ids := j.expected(), map[mark]int{}, map[string]bool{}
	for _, e := range j.feed {
		from, to := j.span(e.mark, e.id)
		times[e.mark]++
		switch {
		case ids[e.id]:
			j.broken(twice, from, to, "twice: event %s", e.id)
		case times[e.mark] > 1:
			j.broken(twice, from, to, "twice: %s", e.mark)
		case !expected[e.mark]:
			j.broken(twice, from, to, "never happened: %s, event %s", e.mark, e.raw)
		default:
			j.kept(twice, from, to)
		}
		ids[e.id] = true
		if times[e.mark] == 1 {
			j.kept(lost, from, to)
		}
	}
	for m := range expected {
		if times[m] == 0 {
			from, to := j.span(m, "")
			j.broken(lost, from, to, "missing: %s", m)
		}
	}
}

// orderOfRecords demands the order of the versions of each order and of the changes of each link.
func (j *judge) orderOfRecords() {
	last := map[string]int64{}
	for _, e := range j.feed {
		from, to := j.span(e.mark, e.id)
		before, again := last[e.subject]
		switch {
		case e.kind == messagePosted && !again:
			j.broken(order, from, to, "order of a record: %s stands before its order", e.mark)
		case e.kind != messagePosted && again && before >= e.step():
			j.broken(order, from, to, "order of a record: %s stands after step %d", e.mark, before)
		}
		if e.kind != messagePosted {
			last[e.subject] = e.step()
		}
	}
}

// causalOrder demands that what was answered before another change was requested stands before it: of any two changes,
// in whichever services and by whichever writers.
func (j *judge) causalOrder() {
	var newest time.Time
	var newestMark mark
	for _, e := range j.feed {
		d, known := j.by[e.mark]
		if !known {
			continue
		}
		from, to := j.span(e.mark, e.id)
		if d.answered.Before(newest) {
			j.broken(order, from, to, "causal order: %s was answered %s before %s was requested and stands behind it",
				e.mark, newest.Sub(d.answered), newestMark)
		} else {
			j.kept(order, from, to)
		}
		if d.asked.After(newest) {
			newest, newestMark = d.asked, e.mark
		}
	}
}

// inFeedOf are the events that the key finds in the feed: all it may see but its own messages.
func (j *judge) inFeedOf(r reader) []seen {
	var events []seen
	for _, e := range j.feed {
		own := e.kind == messagePosted && j.by[e.mark].key == r.keyID
		if j.visible(r, e) && !own {
			events = append(events, e)
		}
	}
	return events
}

// followed demands that the follower has read what stands in the feed now, in the same order.
func (j *judge) followed(f *follower) {
	f.lock.Lock()
	defer f.lock.Unlock()
	want := j.inFeedOf(f.reader)
	allowed := map[string]bool{}
	for _, e := range want {
		allowed[e.id] = true
	}
	at := 0
	for _, e := range f.events {
		from, to := j.span(e.mark, e.id)
		switch {
		case !allowed[e.id]:
			j.broken(leak, from, to, "follower %s: got %s, which is not for it", f.name, e.mark)
		case at < len(want) && want[at].id == e.id:
			j.kept(leak, from, to)
		case at < len(want):
			j.broken(order, from, to, "follower %s: got %s in the place of %s", f.name, e.mark, want[at].mark)
		}
		if allowed[e.id] {
			at++
		}
	}
	for _, e := range want[min(at, len(want)):] {
		from, to := j.span(e.mark, e.id)
		j.broken(lost, from, to, "follower %s: did not get %s", f.name, e.mark)
	}
}
