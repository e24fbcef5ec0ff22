//go:build faults

package faults_test

import (
	"fmt"
	"sync"
	"time"
)

// eventName names the event of a change. It follows from the answer to the change as well as from the event.
type eventName string

func orderEvent(id string, version int64) eventName {
	return eventName(fmt.Sprintf("order %s version %d", id, version))
}
func messageEvent(id string) eventName      { return eventName("message " + id) }
func linkEvent(id, change string) eventName { return eventName("link " + id + " " + change) }

// change is a successful change, as its writer knows it.
type change struct {
	tenant string
	// keyID is the API key that made the change; 0 if a person made it.
	keyID               int32
	requested, answered time.Time
	events              []eventName
	// data is what some of the events must contain, byte for byte: the answer.
	data map[eventName]string
}

func (c *change) add(e eventName, data string) {
	c.events = append(c.events, e)
	if c.data == nil {
		c.data = map[eventName]string{}
	}
	c.data[e] = data
}

// hold is a unit of stock that an order certainly has: from its answer until its cancellation is requested.
type hold struct{ from, until time.Time }

// history records what was answered.
type history struct {
	lock    sync.Mutex
	changes []change
	holds   map[string]*hold
	// records are those of each tenant, for keys that may not see them.
	records map[string][]snapshot
}

func newHistory() *history {
	return &history{holds: map[string]*hold{}, records: map[string][]snapshot{}}
}

func (h *history) add(c change) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.changes = append(h.changes, c)
}

func (h *history) of(tenant string) (changes []change) {
	h.lock.Lock()
	defer h.lock.Unlock()
	for _, c := range h.changes {
		if c.tenant == tenant {
			changes = append(changes, c)
		}
	}
	return changes
}

func (h *history) holdBegins(order string, at time.Time) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.holds[order] = &hold{from: at}
}

func (h *history) holdEnds(order string, at time.Time) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.holds[order].until = at
}

func (h *history) addRecord(tenant string, s snapshot) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.records[tenant] = append(h.records[tenant], s)
}

// anyRecord returns the n-th record of the tenant, modulo their number.
func (h *history) anyRecord(tenant string, n int) (snapshot, bool) {
	h.lock.Lock()
	defer h.lock.Unlock()
	of := h.records[tenant]
	if len(of) == 0 {
		return snapshot{}, false
	}
	return of[n%len(of)], true
}
