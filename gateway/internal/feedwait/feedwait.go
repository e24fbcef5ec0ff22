// Package feedwait holds calls of GET /events that wait for an event, and wakes them when one is committed that their key may see.
//
// The calls are held here, at the edge, and the events service knows nothing of them: a held call is a handler that waits in a
// select. One stream per gateway and cell (FeedNoticesService) reports all committed events of the cell. It is open only while
// calls wait. A new cell is followed about a minute after it was added.
//
// # No event without a wake-up
//
// A Waiter is registered before the feed is read for it. So an event that the read did not find is announced after the
// registration, and wakes it. Whenever a stream begins, or says that notices were lost, every Waiter is woken once. Notices of
// every cell wake a Waiter, because its tenant may move to another cell.
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
	"github.com/partnergifting/platform/pkg/identity"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// Deps are what Waits work with.
type Deps struct {
	// Notices calls the cell that the context names.
	Notices eventsv1.FeedNoticesServiceClient
	// Letters returns the letters of all cells, that of the first one first.
	Letters func(ctx context.Context) []string
	// Redis counts the held calls of a key on all gateways; nil: each gateway counts on its own.
	Redis *redis.Client
	Meter metric.Meter
	Log   *slog.Logger
}

// Config of Waits.
type Config struct {
	// MaxHeld is how many calls this gateway holds at once.
	MaxHeld int
	// RedisBudget is how long a call waits for Redis.
	RedisBudget time.Duration
	// ShutdownWithin is how long the end of all held calls takes at most when the gateway shuts down.
	ShutdownWithin time.Duration
}

// Waits holds calls. Run must run as long as it does.
type Waits struct {
	deps  Deps
	slots *slots
	// wanted receives when a Waiter is registered, missed when all of them are to be woken.
	wanted, missed chan struct{}

	mu       sync.Mutex
	streams  []*stream
	byTenant map[string]map[*Waiter]struct{}
	// registered counts registrations, to notice that there were none for a while.
	registered int
	// shutdown is closed when the gateway shuts down. Each held call then ends at a random time within shutdownTime.
	shutdown     chan struct{}
	shutdownTime time.Duration
}

// stream is the stream of notices of a cell.
type stream struct {
	letter string
	// wanted receives when a Waiter is registered.
	wanted chan struct{}
}

// New makes Waits.
func New(deps Deps, cfg Config) (*Waits, error) {
	w := &Waits{
		deps: deps, slots: newSlots(deps.Redis, cfg), shutdown: make(chan struct{}), shutdownTime: cfg.ShutdownWithin,
		wanted: make(chan struct{}, 1), missed: make(chan struct{}, 1), byTenant: map[string]map[*Waiter]struct{}{},
	}
	w.addStream(identity.HomeCell)
	_, err := deps.Meter.Int64ObservableGauge("gifting.gateway.waiting",
		metric.WithDescription("Calls that are held until an event is committed."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(w.slots.count())
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of waiting calls: %w", err)
	}
	return w, nil
}

// Waiter is a call that waits, or might have to.
type Waiter struct {
	waits     *Waits
	principal caller.Principal
	// noticed receives when there may be an event.
	noticed chan struct{}
}

// Register makes a Waiter for a key. It must be registered before the feed is read for it, and must be unregistered at the end.
func (w *Waits) Register(p caller.Principal) *Waiter {
	waiter := &Waiter{waits: w, principal: p, noticed: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byTenant[p.TenantID] == nil {
		w.byTenant[p.TenantID] = map[*Waiter]struct{}{}
	}
	w.byTenant[p.TenantID][waiter] = struct{}{}
	w.registered++
	signal(w.wanted)
	for _, s := range w.streams {
		signal(s.wanted)
	}
	return waiter
}

// Update lets the Waiter wait for what the key may see now. It must be called before the feed is read for it again.
func (r *Waiter) Update(p caller.Principal) {
	r.waits.mu.Lock()
	defer r.waits.mu.Unlock()
	r.principal = p // Of the same tenant.
}

// Unregister ends the registration.
func (r *Waiter) Unregister() {
	r.waits.mu.Lock()
	defer r.waits.mu.Unlock()
	waiting := r.waits.byTenant[r.principal.TenantID]
	if delete(waiting, r); len(waiting) == 0 {
		delete(r.waits.byTenant, r.principal.TenantID)
	}
}

// Wait waits until there may be an event for the key, and is false if there is none until then or the gateway shuts down. It fails
// when ctx ends.
func (r *Waiter) Wait(ctx context.Context, until time.Time) (noticed bool, err error) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for shutdown := r.waits.shutdown; ; {
		select {
		case <-r.noticed:
			return true, nil
		case <-timer.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		case <-shutdown:
			shutdown = nil
			timer.Reset(min(time.Until(until), rand.N(r.waits.shutdownTime+1))) //nolint:gosec // Not a secret.
		}
	}
}

// Shutdown lets all held calls be answered soon, and holds no further ones. It is called once.
func (w *Waits) Shutdown() {
	// At the rate at which calls are woken, because all of them then read.
	w.shutdownTime = min(time.Duration(w.slots.count())*wakePause/wakeChunk, w.shutdownTime)
	close(w.shutdown)
}

// ShuttingDown reports whether Shutdown was called.
func (w *Waits) ShuttingDown() bool {
	select {
	case <-w.shutdown:
		return true
	default:
		return false
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
	// wakePause follows each wakeChunk of calls that are woken without a notice, because all of them then read.
	wakeChunk = 50
	wakePause = 25 * time.Millisecond
	// cellsPause is the time between two looks for new cells.
	cellsPause = time.Second
)

// Run follows the feeds of all cells while calls wait, until ctx ends.
func (w *Waits) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() { w.wakeAll(ctx) })
	for _, s := range w.streams {
		parts.Go(func() { w.keepFollowing(ctx, s) })
	}
	defer parts.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wanted:
		}
		for _, letter := range w.deps.Letters(ctx) {
			if s := w.addStream(letter); s != nil {
				parts.Go(func() { w.keepFollowing(ctx, s) })
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(cellsPause):
		}
		w.mu.Lock()
		if len(w.byTenant) > 0 {
			signal(w.wanted)
		}
		w.mu.Unlock()
	}
}

// addStream adds the stream of a cell. It is nil if there is one already.
func (w *Waits) addStream(letter string) *stream {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(w.streams, func(s *stream) bool { return s.letter == letter }) {
		return nil
	}
	s := &stream{letter: letter, wanted: make(chan struct{}, 1)}
	if len(w.byTenant) > 0 {
		signal(s.wanted)
	}
	w.streams = append(w.streams, s)
	return s
}

// keepFollowing follows the feed of a cell while calls wait, until ctx ends.
func (w *Waits) keepFollowing(ctx context.Context, s *stream) {
	ctx = caller.InCell(ctx, s.letter)
	for pause := firstPause; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.wanted:
		}
		began := time.Now()
		err := w.follow(ctx, s)
		if errors.Is(err, errIdle) {
			continue
		}
		if time.Since(began) > longestPause {
			pause = firstPause
		}
		signal(s.wanted) // Calls may be waiting.
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if pause = min(2*pause, longestPause); pause == longestPause {
			w.deps.Log.WarnContext(ctx, "the stream of the feed is broken, calls wait longer", "cell", s.letter, "error", err)
		}
	}
}

var errIdle = errors.New("no call waits")

// follow wakes calls until the stream breaks, or no call has waited for a while.
func (w *Waits) follow(ctx context.Context, s *stream) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := w.deps.Notices.WatchFeed(ctx, &eventsv1.WatchFeedRequest{})
	if err != nil {
		return err
	}
	go w.endWhenIdle(ctx, s, cancel)
	for {
		message, err := stream.Recv()
		switch {
		case errors.Is(context.Cause(ctx), errIdle):
			return errIdle
		case err != nil:
			return err
		}
		if message.GetMissed() {
			signal(w.missed)
		}
		w.wake(message.GetNotices())
	}
}

// endWhenIdle ends the stream when no call waits and none has begun to for a while.
func (w *Waits) endWhenIdle(ctx context.Context, s *stream, end context.CancelCauseFunc) {
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
			case <-s.wanted: // Of a call that has unregistered. One that registers now signals once it has the lock.
			default:
			}
			end(errIdle)
		}
		seen = w.registered
		w.mu.Unlock()
	}
}

func (w *Waits) wake(notices []*eventsv1.FeedNotice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range notices {
		for waiter := range w.byTenant[n.GetTenantId()] {
			if waiter.principal.SeesEvent(n.GetScope(), n.GetBrandId(), n.GetHiddenFromKeyId()) {
				signal(waiter.noticed)
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
			for _, waiter := range chunk {
				signal(waiter.noticed)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wakePause):
			}
		}
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
