package sender

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/post"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// Limits of a sender. All are needed.
type Limits struct {
	// Workers is how many requests are under way at once in this process.
	Workers int
	// PerEndpoint is how many are to one endpoint, over all instances.
	PerEndpoint int
	// Timeout of one attempt.
	Timeout time.Duration
	// Lease is at least MinLease of Timeout.
	Lease time.Duration
	// Poll is how often due rows are looked for that nobody announced.
	Poll time.Duration
}

const (
	// lookupTimeout bounds the question where to send.
	lookupTimeout = 3 * time.Second
	// recordTime is what is left of a lease, after an attempt, to record its outcome.
	recordTime = 2 * time.Second
	// claimTime ends a claim that hangs.
	claimTime = 5 * time.Second
	// pause is how long an endpoint is left alone whose tenant has no API access.
	pause = 15 * time.Second
	// roundGap lets results and wake-ups that come close together share one claim.
	roundGap = time.Millisecond
	// contendedGap is when to look again after another instance was claiming for an endpoint.
	contendedGap = 20 * time.Millisecond
)

// MinLease is the shortest lease within which an attempt surely ends and can be recorded.
func MinLease(timeout time.Duration) time.Duration { return timeout + lookupTimeout + recordTime }

// Sender claims and sends deliveries.
type Sender struct {
	store     *store.Store
	recorder  *recorder
	directory tenantsv1.DirectoryServiceClient
	poster    *post.Poster
	limits    Limits
	now       func() time.Time
	log       *slog.Logger
	metrics   *metrics
	spans     trace.Tracer // nil: attempts are in no trace.

	woken chan struct{}
	// announced are the keys whose deliveries have just been stored.
	announced announced
	busy      atomic.Int64
	// more says that the last claim may have left rows for want of room, freed that an attempt has
	// ended since that claim began.
	more, freed atomic.Bool
	workers     sync.WaitGroup
}

// New makes a sender that does nothing before Run. now only measures how much of a lease is left
// here, and dates the log: due times and leases are the database's.
func New(
	st *store.Store, directory tenantsv1.DirectoryServiceClient, poster *post.Poster,
	limits Limits, now func() time.Time, telemetry Telemetry,
) (*Sender, error) {
	m, err := newMetrics(telemetry.Meter)
	if err != nil {
		return nil, err
	}
	return &Sender{
		store: st, recorder: newRecorder(st), directory: directory, poster: poster, limits: limits, now: now,
		log: telemetry.Logger, metrics: m, spans: telemetry.Tracer, woken: make(chan struct{}, 1),
	}, nil
}

// Wake says that deliveries may be due. It never blocks; many calls at once are one.
func (s *Sender) Wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Announce says that deliveries to the keys have just been stored: it wakes the sender, which can then ask where they
// go while it claims them.
func (s *Sender) Announce(keys []int32) {
	s.announced.add(keys, s.limits.Workers)
	s.Wake()
}

// Run sends until ctx ends and then waits for the attempts under way, each of which ends within
// the timeout.
func (s *Sender) Run(ctx context.Context) error {
	defer s.workers.Wait()
	for ctx.Err() == nil {
		s.rest(ctx, s.round(ctx))
	}
	return nil
}

// rest waits for the next round: a wake-up, but not at once, or the time given.
func (s *Sender) rest(ctx context.Context, longest time.Duration) {
	gap := time.NewTimer(roundGap)
	defer gap.Stop()
	select {
	case <-ctx.Done():
		return
	case <-gap.C:
	}
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.woken:
	case <-timer.C:
	}
}

// round claims what is due and there are free workers for, and sends it. It gives the time after
// which to look again unless something happens before: the end of an attempt wakes the sender too.
func (s *Sender) round(ctx context.Context) time.Duration {
	free := s.limits.Workers - int(s.busy.Load())
	if free <= 0 {
		return s.limits.Poll
	}
	s.freed.Store(false)
	round, done := context.WithCancel(ctx)
	defer done() // Nobody waits for what was looked up when nothing was claimed.
	ahead := s.lookUpAhead(round, s.announced.take())
	// The database's lease begins after this moment, so it ends after until.
	until := s.now().Add(s.limits.Lease)
	claimed, err := s.claim(ctx, free)
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot claim deliveries, trying again", "error", err)
		}
		return s.limits.Poll
	}
	if s.more.Store(claimed.More); claimed.More && s.freed.Load() {
		s.Wake()
	}
	if len(claimed.Deliveries) > 0 {
		s.dispatch(ctx, claimed.Deliveries, until, ahead)
	}
	if claimed.Contended {
		return min(contendedGap, s.limits.Poll)
	}
	return s.limits.Poll
}

// claim ends with the process only when it hangs: one that is cut off may have been committed, and its rows would wait
// for the end of their leases.
func (s *Sender) claim(ctx context.Context, limit int) (store.Claimed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTime)
	defer cancel()
	return s.store.Claim(ctx, store.ClaimRequest{
		Lease: s.limits.Lease, Limit: limit, PerEndpoint: s.limits.PerEndpoint,
	})
}

// ended looks for rows that an attempt which has ended made room for. Where the last claim left none,
// there is nothing to look for: what is stored since has woken the sender by itself.
func (s *Sender) ended() {
	if s.freed.Store(true); s.more.Load() {
		s.Wake()
	}
}

// dispatch gives each claimed delivery to a worker, or back. until is when their leases end, ahead what was looked
// up while they were claimed.
func (s *Sender) dispatch(ctx context.Context, deliveries []store.Delivery, until time.Time, ahead lookAhead) {
	// What was claimed is sent or given back even when the process is asked to stop meanwhile.
	unbroken := context.WithoutCancel(ctx)
	asking, done := context.WithTimeout(ctx, lookupTimeout)
	defer done()
	targets, err := s.lookUpRest(asking, deliveries, ahead)
	if err != nil {
		s.log.WarnContext(ctx, "cannot look up endpoints, deliveries wait", "deliveries", len(deliveries), "error", err)
		s.release(unbroken, deliveries, s.limits.Poll)
		return
	}
	var paused []store.Delivery
	for _, d := range deliveries {
		target := targets[d.KeyID]
		if target.paused {
			paused = append(paused, d)
			continue
		}
		s.busy.Add(1)
		s.workers.Go(func() {
			s.deliver(unbroken, leased{Delivery: d, until: until}, target)
			s.busy.Add(-1)
			s.ended()
		})
	}
	s.pause(unbroken, paused)
}

// pause leaves the endpoints of the deliveries alone for a while.
func (s *Sender) pause(ctx context.Context, deliveries []store.Delivery) {
	if len(deliveries) == 0 {
		return
	}
	s.metrics.count(ctx, paused, len(deliveries))
	seen := make(map[store.Endpoint]struct{})
	var list []store.Endpoint
	for _, d := range deliveries {
		if _, again := seen[d.Endpoint]; !again {
			seen[d.Endpoint] = struct{}{}
			list = append(list, d.Endpoint)
		}
	}
	var wait time.Duration
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	if err := s.store.Pause(ctx, list, pause); err != nil {
		s.log.WarnContext(ctx, "cannot pause endpoints", "endpoints", len(list), "error", err)
		wait = pause // Without the pause the rows themselves must wait.
	}
	s.release(ctx, deliveries, wait)
}

// release gives deliveries back. Where that fails, the end of their leases does it.
func (s *Sender) release(ctx context.Context, deliveries []store.Delivery, wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if err := s.store.Release(ctx, deliveries, wait); err != nil {
		s.log.WarnContext(ctx, "cannot release deliveries before their leases end", "error", err)
	}
}

func random() float64 {
	return rand.Float64() //nolint:gosec // Spreads retries; nobody gains by guessing it.
}
