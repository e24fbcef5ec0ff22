//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"time"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// follower reads the feed while it grows, and checks that no event appears twice or before an older one. If its cursor is
// refused, it does a full sync: the feed still has every event, so it reads it again from the start.
type follower struct {
	reader
	client *client
	random *mathrand.Rand
	// waits means that its calls wait for an event at the end of the feed.
	waits bool
	// busy is held while a page is read, or by a disaster while the follower does not read.
	busy sync.Mutex

	lock   sync.Mutex
	cursor string
	events []event
	// at is when each event was first seen, step the last step of each record.
	at   map[string]time.Time
	step map[string]int64
	// syncs counts the full syncs, of which maySync are allowed.
	syncs, maySync int
}

func newFollower(r reader, c *client, random *mathrand.Rand) *follower {
	return &follower{reader: r, client: c.with(r.key), random: random, at: map[string]time.Time{}, step: map[string]int64{}}
}

func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		f.busy.Lock()
		more, err := f.readPage(ctx)
		f.busy.Unlock()
		if err == nil && more {
			continue
		}
		sleep(ctx, 500*time.Millisecond)
	}
}

// longestWait is how many seconds a follower waits at most. It is less than tryTimeout by more than waitMargin.
const longestWait = 4

var errNoPage = errors.New("no page")

// readPage reads the next page, of a random size, and reports whether it was full.
func (f *follower) readPage(ctx context.Context) (full bool, err error) {
	began, limit := time.Now(), 1+f.random.IntN(100)
	what := call{method: http.MethodGet, path: fmt.Sprintf("/events?limit=%d", limit)}
	if f.cursor != "" {
		what.path, what.problems = what.path+"&after="+f.cursor, []string{invalidRequest}
	}
	wait := 0
	if f.waits {
		wait = 1 + f.random.IntN(longestWait)
		what.path = fmt.Sprintf("%s&wait=%d", what.path, wait)
	}
	a, err := f.client.try(ctx, what)
	if f.waits && ctx.Err() == nil {
		f.client.results.addLongCall(longCall{began, time.Now(), time.Duration(wait) * time.Second})
	}
	if err == nil && a.code() == invalidRequest {
		f.fullSync(began, a)
		return true, nil
	}
	if err != nil || !a.success() {
		return false, errors.Join(errNoPage, err)
	}
	events, next, err := parsePage(a.body, parseEvent)
	if err != nil {
		f.client.results.failed(answers, began, time.Now(), "%s: %v: %s", what.path, err, a.body)
		return false, err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, e := range events {
		f.add(e, began)
	}
	if next != "" {
		f.cursor = next
	}
	return len(events) == limit, nil
}

// invalidRequest is the problem of a cursor that points at what is gone.
const invalidRequest = "invalid_request"

// fullSync forgets what was read, and begins again.
func (f *follower) fullSync(began time.Time, refusal answer) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.syncs++
	f.client.results.require(f.syncs <= f.maySync, cursor, began, time.Now(),
		"follower %s: its cursor is refused: %s", f.name, refusal.body)
	f.cursor, f.events, f.step = "", nil, map[string]int64{}
	clear(f.at)
}

// allowSync allows one more full sync.
func (f *follower) allowSync() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.maySync++
}

func (f *follower) add(e event, requested time.Time) {
	now := time.Now()
	if _, known := f.at[e.id]; known {
		f.client.results.failed(duplicate, requested, now, "follower %s: event %s appears again", f.name, e.id)
	}
	if last, known := f.step[e.subject]; known && e.kind != messagePosted && last >= e.step() && !f.client.results.excused(e.name) {
		f.client.results.failed(order, requested, now, "follower %s: %s comes after step %d", f.name, e.name, last)
	}
	if e.kind != messagePosted {
		f.step[e.subject] = e.step()
	}
	f.at[e.id], f.events = now, append(f.events, e)
}

func (f *follower) length() int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.events)
}

// times is when each event was first seen.
func (f *follower) times() map[string]time.Time {
	f.lock.Lock()
	defer f.lock.Unlock()
	return maps.Clone(f.at)
}

// endpoint receives the webhooks of an API key. It refuses one in refuseIn of the events that have not arrived yet; with 0 it
// refuses none.
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
	if (gifting.Verifier{Secrets: []string{e.secret}}).Check(raw, r.Header) != nil {
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
	switch {
	case known && before != string(raw):
		e.results.failed(delivery, now, now, "receiver %s: event %s comes with another body", e.name, id)
	case known && e.results.movesOnly:
		e.results.failed(delivery, now, now, "receiver %s: event %s comes again", e.name, id)
	case !known:
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
