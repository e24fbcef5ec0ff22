//go:build faults

package faults_test

// sentTo are the events that are sent to the key: all that it may see, except its own changes.
func (c *checker) sentTo(r reader) (events []event) {
	for _, e := range c.feed {
		if c.visible(r, e) && c.byEvent[e.name].keyID != r.keyID {
			events = append(events, e)
		}
	}
	return events
}

// checkDelivery requires that the endpoint received each event that is for it, equal to the feed item, and no other.
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
