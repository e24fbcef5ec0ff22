// Package feedwait holds calls of GET /events that wait for an event, and wakes them when one is committed that their key may see.
//
// The calls are held here, at the edge, and nothing of them in the events service: a held call is an HTTP connection and a Waiter.
// One stream per gateway (FeedNoticesService) tells of all committed events. It is open only while calls wait.
//
// # No event without a wake-up
//
// A Waiter is registered before the feed is read for it. So an event that the read did not find is announced after the registration,
// and wakes it. Whenever the stream begins, or says that notices were lost, every Waiter is woken once.
package feedwait

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/caller"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// Deps are what Waits work with.
type Deps struct {
	Notices eventsv1.FeedNoticesServiceClient
	// Redis counts the held calls of a key on all gateways; nil: each gateway counts on its own.
	Redis redis.Scripter
	Meter metric.Meter
	Log   *slog.Logger
}

// Config of Waits.
type Config struct {
	// MaxHeld is how many calls this gateway holds at once.
	MaxHeld int
	// RedisBudget is how long a call waits for Redis.
	RedisBudget time.Duration
	// EndWithin is how long the end of many held calls takes at most.
	EndWithin time.Duration
}

// Waits holds calls. Run must run beside it.
type Waits struct {
	deps   Deps
	places *places
	// wanted receives when a Waiter is registered, missed when all of them are to be woken.
	wanted, missed chan struct{}

	mu       sync.Mutex
	byTenant map[string]map[*Waiter]struct{}
	// registered counts registrations, to notice that there were none for a while.
	registered int
	// ending is set when the gateway shuts down. Each held call then ends at a random time within endTime.
	ending  bool
	endTime time.Duration
}

// New makes Waits.
func New(deps Deps, cfg Config) (*Waits, error) {
	w := &Waits{
		deps: deps, places: newPlaces(deps.Redis, cfg), endTime: cfg.EndWithin,
		wanted: make(chan struct{}, 1), missed: make(chan struct{}, 1), byTenant: map[string]map[*Waiter]struct{}{},
	}
	_, err := deps.Meter.Int64ObservableGauge("gifting.gateway.waiting",
		metric.WithDescription("Calls that are held until an event is committed."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(w.places.count())
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of waiting calls: %w", err)
	}
	return w, nil
}

// Waiter is a call that waits, or might have to.
type Waiter struct {
	of        *Waits
	principal caller.Principal
	// due means that there may be an event. line is that of the call while it waits, and until the
	// end of the wait.
	due   bool
	line  Line
	until time.Time
}

// Line is the connection of a call that waits.
type Line interface {
	// Gone waits until the caller has left: then it is true. It is false once the deadline for reading has passed, or if the caller
	// has sent more.
	Gone() bool
	SetReadDeadline(at time.Time) error
}

// Register makes a Waiter for a key. It must be registered before the feed is read for it, and must Leave.
func (w *Waits) Register(p caller.Principal) *Waiter {
	waiter := &Waiter{of: w, principal: p}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byTenant[p.TenantID] == nil {
		w.byTenant[p.TenantID] = map[*Waiter]struct{}{}
	}
	w.byTenant[p.TenantID][waiter] = struct{}{}
	w.registered++
	signal(w.wanted)
	return waiter
}

// Update lets the Waiter wait for what the key may see now. It must be called before the feed is read for it again.
func (r *Waiter) Update(p caller.Principal) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.principal = p // Of the same tenant.
}

// Leave ends the registration. A nil Waiter has none.
func (r *Waiter) Leave() {
	if r == nil {
		return
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	waiting := r.of.byTenant[r.principal.TenantID]
	if delete(waiting, r); len(waiting) == 0 {
		delete(r.of.byTenant, r.principal.TenantID)
	}
}

// Outcome is why a wait has ended.
type Outcome int

// The outcomes.
const (
	// Noticed means that the key may have a new event.
	Noticed Outcome = iota
	// Over means that the time is over, or that the gateway shuts down.
	Over
	// Gone means that the caller has left.
	Gone
)

// Wait waits until there may be an event for the key, but not longer than until then. A caller that sends more before its answer gets
// the answer at once.
func (r *Waiter) Wait(line Line, until time.Time) Outcome {
	if r.begin(line, until) && line.Gone() {
		return Gone
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.line = nil // Nobody sets its deadline any more.
	if r.due {
		r.due = false
		return Noticed
	}
	return Over
}

// begin sets the end of the wait, and lets it be interrupted. It is false if there is no need to wait.
func (r *Waiter) begin(line Line, until time.Time) bool {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if r.due {
		return false
	}
	if r.of.ending {
		until = r.of.turn(until)
	}
	_ = line.SetReadDeadline(until) // If that fails, the connection is closed, and the caller has left.
	r.line, r.until = line, until
	return true
}

// turn is when a call ends while the gateway shuts down, because all held calls then read.
func (w *Waits) turn(until time.Time) time.Time {
	turn := time.Now().Add(rand.N(w.endTime + 1)) //nolint:gosec // Not a secret.
	if until.Before(turn) {
		return until
	}
	return turn
}

// wake ends the wait, or that which is about to begin. The caller has locked the Waits.
func (r *Waiter) wake() {
	r.due = true
	if r.line != nil {
		_ = r.line.SetReadDeadline(time.Unix(1, 0))
	}
}

// End answers all held calls soon, and holds no further ones.
func (w *Waits) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = true
	w.endTime = min(time.Duration(w.places.count())*wakePause/wakeChunk, w.endTime)
	for _, waiting := range w.byTenant {
		for waiter := range waiting {
			if waiter.line != nil && !waiter.due {
				_ = waiter.line.SetReadDeadline(w.turn(waiter.until))
			}
		}
	}
}

// Ending reports whether End was called.
func (w *Waits) Ending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ending
}

// Ended waits until no call is held, or ctx ends.
func (w *Waits) Ended(ctx context.Context) {
	tick := time.NewTicker(wakePause)
	defer tick.Stop()
	for w.places.count() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

const (
	firstPause, longestPause = 50 * time.Millisecond, time.Second
	// idle is how long the stream stays open without calls that wait.
	idle = time.Minute
	// wakePause follows each wakeChunk of calls that are woken without a notice, because all of them then read. Calls end at the same
	// rate when the gateway shuts down.
	wakeChunk = 50
	wakePause = 25 * time.Millisecond
)

// Run follows the feed while calls wait, until ctx ends.
func (w *Waits) Run(ctx context.Context) error {
	var beside sync.WaitGroup
	beside.Go(func() { w.wakeAll(ctx) })
	defer beside.Wait()
	for pause := firstPause; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wanted:
		}
		began := time.Now()
		err := w.follow(ctx)
		if errors.Is(err, errIdle) {
			continue
		}
		if time.Since(began) > longestPause {
			pause = firstPause
		}
		signal(w.wanted) // Calls may be waiting.
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		if pause = min(2*pause, longestPause); pause == longestPause {
			w.deps.Log.WarnContext(ctx, "the stream of the feed is broken, calls wait longer", "error", err)
		}
	}
}

var errIdle = errors.New("no call waits")

// follow wakes calls until the stream breaks, or no call has waited for a while.
func (w *Waits) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := w.deps.Notices.WatchFeed(ctx, &eventsv1.WatchFeedRequest{})
	if err != nil {
		return err
	}
	go w.endWhenIdle(ctx, cancel)
	for {
		said, err := stream.Recv()
		switch {
		case errors.Is(context.Cause(ctx), errIdle):
			return errIdle
		case err != nil:
			return err
		}
		if said.GetMissed() {
			signal(w.missed)
		}
		w.wake(said.GetNotices())
	}
}

// endWhenIdle ends the stream when no call waits and none has begun to for a while.
func (w *Waits) endWhenIdle(ctx context.Context, end context.CancelCauseFunc) {
	tick := time.NewTicker(idle)
	defer tick.Stop()
	for seen := -1; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.mu.Lock()
		if len(w.byTenant) == 0 && w.registered == seen {
			select {
			case <-w.wanted: // Of a call that has left. One that registers signals after the lock.
			default:
			}
			end(errIdle)
		}
		seen = w.registered
		w.mu.Unlock()
	}
}

func (w *Waits) wake(found []*eventsv1.FeedNotice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range found {
		for waiter := range w.byTenant[n.GetTenantId()] {
			if waiter.principal.SeesEvent(n.GetScope(), n.GetBrandId(), n.GetHiddenFromKeyId()) {
				waiter.wake()
			}
		}
	}
}

// wakeAll wakes all calls whenever notices were missed, at a bounded rate.
func (w *Waits) wakeAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.missed:
		}
		for chunk := range slices.Chunk(w.waiters(), wakeChunk) {
			w.wakeWaiters(chunk)
			select {
			case <-ctx.Done():
				return
			case <-time.After(wakePause):
			}
		}
	}
}

func (w *Waits) wakeWaiters(some []*Waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiter := range some {
		waiter.wake()
	}
}

func (w *Waits) waiters() (all []*Waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiting := range w.byTenant {
		all = slices.AppendSeq(all, maps.Keys(waiting))
	}
	return all
}
