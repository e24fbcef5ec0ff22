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

// endpoint receives the webhooks of a key. It refuses one in so many of those that have not arrived.
type endpoint struct {
	reader
	verdict  *verdict
	refuseIn int

	lock   sync.Mutex
	random *mathrand.Rand
	bodies map[string]string
	// at is when each event has arrived first.
	at map[string]time.Time
	// refusals counts them by event.
	refusals map[string]int
}

func newEndpoint(r reader, v *verdict, random *mathrand.Rand, refuseIn int) *endpoint {
	return &endpoint{reader: r, verdict: v, refuseIn: refuseIn, random: random, bodies: map[string]string{}, at: map[string]time.Time{}, refusals: map[string]int{}}
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // The sender was killed while it sent, or the connection was cut.
	}
	id, now := r.Header.Get("Service-Event-Id"), time.Now()
	if !inbox.Verify(e.secret, r.Header.Get(inbox.SignatureHeader), raw, now) {
		e.verdict.broken(delivery, now, now, "receiver %s: event %s is not signed", e.name, id)
	}
	e.verdict.hold(leak, now, now, personal("webhook", string(raw)))
	e.lock.Lock()
	defer e.lock.Unlock()
	if _, again := e.at[id]; !again && e.refuseIn > 0 && e.random.IntN(e.refuseIn) == 0 {
		e.refusals[id]++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if before, again := e.bodies[id]; again && before != string(raw) {
		e.verdict.broken(delivery, now, now, "receiver %s: event %s comes with another body", e.name, id)
	} else if !again {
		e.bodies[id], e.at[id] = string(raw), now
	}
	w.WriteHeader(http.StatusNoContent)
}

// refused says how often the event was.
func (e *endpoint) refused(id string) int {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.refusals[id]
}

// missing gives those of the events that have not arrived.
func (e *endpoint) missing(events []seen) (missing []seen) {
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, sent := range events {
		if _, arrived := e.at[sent.id]; !arrived {
			missing = append(missing, sent)
		}
	}
	return missing
}
