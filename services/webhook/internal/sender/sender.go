package sender

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

// Deps are what a sender works with.
type Deps struct {
	Store     *store.Store
	Directory tenantsv1.DirectoryServiceClient
	Client    *webhookclient.Client
	// Reader opens the events.
	Reader *seal.EventReader
	// Now measures how much of a lease is left, and sets the times of the log. It has no other use.
	Now       func() time.Time
	Telemetry *telemetry.Telemetry
	Cell      identity.Cell
}

// Config of a sender. Lease is at least MinLease of Timeout.
type Config struct {
	Workers     int           `env:"WEBHOOK_WORKERS" envDefault:"256" check:"min=1" doc:"Maximum number of requests in flight in this process."`
	PerEndpoint int           `env:"WEBHOOK_PER_ENDPOINT" envDefault:"8" check:"min=1" doc:"Maximum number of requests in flight to one endpoint, over all instances."`
	Timeout     time.Duration `env:"WEBHOOK_TIMEOUT" envDefault:"10s" check:"min=100ms" doc:"How long an attempt or a webhook test may take."`
	Connect     time.Duration `env:"WEBHOOK_CONNECT_TIMEOUT" envDefault:"3s" check:"min=100ms" doc:"How long name resolution, connecting and the TLS handshake may take, as a part of the timeout."`
	Lease       time.Duration `env:"WEBHOOK_LEASE" envDefault:"30s" check:"min=1s" doc:"After how long a delivery is sent again if its sender has crashed; at least the timeout plus 5 s."`
	Poll        time.Duration `env:"WEBHOOK_POLL" envDefault:"1s" check:"min=10ms" doc:"Shortest time between two searches for due retries. If none is due, the sender searches when the next one becomes due, and at least every 5 s."`
}

const (
	scope = "github.com/partnergifting/platform/services/webhook"

	// tickInterval lets results and wake-ups that come close together share one claim.
	tickInterval = time.Millisecond
	// contendedInterval is the pause after a claim for which another instance held the lock of an endpoint.
	contendedInterval = 20 * time.Millisecond
)

// MinLease is the shortest lease in which an attempt always ends and can be recorded.
func MinLease(timeout time.Duration) time.Duration { return timeout + lookupTimeout + recordTimeout }

// Sender claims and sends deliveries.
type Sender struct {
	cfg       Config
	store     *store.Store
	directory tenantsv1.DirectoryServiceClient
	cell      identity.Cell
	client    *webhookclient.Client
	reader    *seal.EventReader
	results   *daemon.Batcher[*pendingResult]
	now       func() time.Time
	log       *slog.Logger
	metrics   *metrics
	tracer    trace.Tracer // Nil if attempts are not traced.

	// id identifies this sender's leases.
	id int64
	// registered means that claims may get something. renewed is when the registration was last written.
	registered      atomic.Bool
	renewed         time.Time
	discoverTimeout time.Duration
	// lookedForGone is when endpoints that are gone were last looked for.
	lookedForGone time.Time
	goneInterval  time.Duration
	heartbeat     time.Duration
	maxLookupAge  time.Duration
	// woken means that deliveries may be due in the database, ready that the schedule may have some to claim.
	woken, ready chan struct{}
	schedule     *schedule
	// slotsFreed means that an attempt has ended since the last claim began.
	slotsFreed atomic.Bool
	workers    sync.WaitGroup
	// intake guards stopped, which means that no workers are reserved any more.
	intake  sync.Mutex
	stopped bool
}

// New makes a sender.
func New(deps Deps, cfg Config) (*Sender, error) {
	tel := deps.Telemetry
	scheduled := newSchedule(cfg.Workers, cfg.PerEndpoint)
	m, err := newMetrics(tel.Meters.Meter(scope), scheduled)
	if err != nil {
		return nil, err
	}
	s := &Sender{
		cfg: cfg, store: deps.Store, directory: deps.Directory, cell: deps.Cell, client: deps.Client, reader: deps.Reader,
		results: newResults(deps.Store),
		now:     deps.Now, log: tel.Logger, metrics: m,
		id:    1 + rand.Int64N(math.MaxInt64), //nolint:gosec // It must be unique and need not be secret.
		woken: make(chan struct{}, 1), ready: make(chan struct{}, 1), schedule: scheduled,
		discoverTimeout: discoverTimeout, lookedForGone: time.Now(), goneInterval: goneInterval, heartbeat: heartbeat,
		maxLookupAge: maxLookupAge,
	}
	if tel.Tracing {
		s.tracer = tel.Tracers.Tracer(scope)
	}
	return s, nil
}

// Run sends until ctx ends and then waits for the attempts in flight, each of which ends within the timeout, and for those of
// reservations.
func (s *Sender) Run(ctx context.Context) error {
	defer s.workers.Wait()
	defer s.stopReserving()
	s.workers.Go(func() { s.discover(ctx) })
	for ctx.Err() == nil {
		wait(ctx, s.ready, tickInterval, s.tick(ctx))
	}
	return nil
}

func (s *Sender) stopReserving() {
	s.intake.Lock()
	defer s.intake.Unlock()
	s.stopped = true
}

// Impaired returns the endpoints whose receivers are slow or do not answer.
func (s *Sender) Impaired() []store.Endpoint { return s.schedule.impaired() }

// wait returns when there is a signal, or after d, but never before the interval has passed.
func wait(ctx context.Context, signal chan struct{}, interval, d time.Duration) {
	gap := time.NewTimer(interval)
	defer gap.Stop()
	select {
	case <-ctx.Done():
		return
	case <-gap.C:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-signal:
	case <-timer.C:
	}
}

// tick claims due deliveries for the free workers and dispatches them. It returns how long to wait for the next tick, which begins
// earlier if there is more to claim.
func (s *Sender) tick(ctx context.Context) time.Duration {
	if !s.registered.Load() {
		return s.cfg.Poll
	}
	s.slotsFreed.Store(false)
	wanted, limit := s.schedule.startClaim()
	if len(wanted) == 0 {
		return s.cfg.Poll
	}
	// The lease in the database begins later, so it ends after leaseEnd.
	leaseEnd := s.now().Add(s.cfg.Lease)
	claimed, err := s.claim(ctx, wanted, limit)
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot claim deliveries, trying again", "error", err)
		}
		return s.cfg.Poll
	}
	if len(claimed.Deliveries) > 0 {
		// The next claim need not wait until the endpoints are looked up.
		s.workers.Go(func() { s.dispatch(ctx, claimed.Deliveries, leaseEnd, earlierLookup{}) })
	}
	if len(claimed.Contended) > 0 {
		return min(contendedInterval, s.cfg.Poll)
	}
	return s.cfg.Poll
}
