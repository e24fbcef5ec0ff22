//go:build faults

package faults_test

// sentTo are the events that are sent to the key: all it may see but its own changes.
func (j *judge) sentTo(r reader) []seen {
	var events []seen
	for _, e := range j.feed {
		if j.visible(r, e) && j.by[e.mark].key != r.keyID {
			events = append(events, e)
		}
	}
	return events
}

// delivered demands each event that is for the receiver, as it stands in the feed, and no other.
func (j *judge) delivered(r *endpoint) {
	r.lock.Lock()
	defer r.lock.Unlock()
	wanted := map[string]bool{}
	for _, e := range j.sentTo(r.reader) {
		wanted[e.id] = true
		from, _ := j.span(e.mark, e.id)
		body, arrived := r.bodies[e.id]
		switch {
		case !arrived:
			j.broken(delivery, from, j.ended, "receiver %s: did not get %s", r.name, e.mark)
		case body != e.raw:
			j.broken(delivery, from, r.at[e.id], "receiver %s: body and feed item differ: %s and %s", r.name, body, e.raw)
		default:
			j.kept(delivery, from, r.at[e.id])
		}
	}
	for id, body := range r.bodies {
		if !wanted[id] {
			j.broken(leak, r.at[id], r.at[id], "receiver %s: got what is not for it: %s", r.name, body)
		}
	}
}
