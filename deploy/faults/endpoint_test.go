//go:build faults

package faults_test

import (
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/partnergifting/platform/deploy/local/inbox"
)

// endpoint receives the webhooks of an API key. It refuses one in refuseIn of those that have not arrived; 0: none.
type endpoint struct {
	reader
	results  *results
	refuseIn int

	lock   sync.Mutex
	random *mathrand.Rand
	bodies map[string]string
	// at is when each event arrived first, refusals counts the refusals of each.
	at       map[string]time.Time
	refusals map[string]int
}

func newEndpoint(r reader, to *results, random *mathrand.Rand, refuseIn int) *endpoint {
	return &endpoint{
		reader: r, results: to, refuseIn: refuseIn, random: random,
		bodies: map[string]string{}, at: map[string]time.Time{}, refusals: map[string]int{},
	}
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // The sender was killed, or the connection was closed.
	}
	id, now := r.Header.Get("Service-Event-Id"), time.Now()
	if !inbox.Verify(e.secret, r.Header.Get(inbox.SignatureHeader), raw, now) {
		e.results.failed(delivery, now, now, "receiver %s: event %s is not signed", e.name, id)
	}
	e.results.check(leak, now, now, findPersonal("webhook", string(raw)))
	e.lock.Lock()
	defer e.lock.Unlock()
	before, known := e.bodies[id]
	if !known && e.refuseIn > 0 && e.random.IntN(e.refuseIn) == 0 {
		e.refusals[id]++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if known && before != string(raw) {
		e.results.failed(delivery, now, now, "receiver %s: event %s comes with another body", e.name, id)
	} else if !known {
		e.bodies[id], e.at[id] = string(raw), now
	}
	w.WriteHeader(http.StatusNoContent)
}

// refused is how often the event was refused.
func (e *endpoint) refused(id string) int {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.refusals[id]
}

// missing are those of the events that have not arrived.
func (e *endpoint) missing(events []event) (missing []event) {
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, sent := range events {
		if _, arrived := e.at[sent.id]; !arrived {
			missing = append(missing, sent)
		}
	}
	return missing
}
