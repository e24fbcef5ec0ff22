package sender_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/services/webhook/internal/post"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	tenant = "0190aaaa-0000-7000-8000-000000000001"
	soon   = 10 * time.Second
	often  = 5 * time.Millisecond
)

// clock stands still until it is moved.
type clock struct {
	guard sync.Mutex
	t     time.Time
}

func (c *clock) now() time.Time {
	c.guard.Lock()
	defer c.guard.Unlock()
	return c.t
}

func (c *clock) set(t time.Time) {
	c.guard.Lock()
	defer c.guard.Unlock()
	c.t = t
}

func (c *clock) advance(d time.Duration) { c.set(c.now().Add(d)) }

type world struct {
	t         *testing.T
	pool      *pgxpool.Pool
	store     *store.Store
	directory *webhooktest.Directory
	clock     *clock
	client    *http.Client
	limits    sender.Limits
	tel       *telemetrytest.Record
}

func setup(t *testing.T) *world {
	t.Helper()
	pool := pgtest.New(t, store.Migrations())
	webhooktest.SoundAtTheEnd(t, pool)
	c := &clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return &world{
		t: t, pool: pool, store: store.NewAt(pool, c.now),
		directory: webhooktest.NewDirectory(t),
		clock:     c,
		tel:       telemetrytest.New(),
		client:    netguard.NewClient(netguard.Options{AllowLoopback: true}),
		limits: sender.Limits{
			Workers: 16, PerEndpoint: 8, Timeout: 10 * time.Second, Lease: 30 * time.Second, Poll: 50 * time.Millisecond,
		},
	}
}

// running is a sender at work.
type running struct {
	*sender.Sender
	// stop asks Run to end; wait gives what it gave.
	stop func()
	wait func() error
}

// start runs a sender until the test ends or it is stopped.
func (w *world) start() running {
	w.t.Helper()
	return w.startAt(w.clock.now)
}

// startAt runs a sender whose own clock is not the database's.
func (w *world) startAt(now func() time.Time) running {
	w.t.Helper()
	s, err := sender.New(w.store, w.directory.Client, post.New(w.client, now), w.limits, now,
		sender.Telemetry{Logger: w.tel.Logger, Meter: w.tel.Meters.Meter("test"), Tracer: w.tel.Tracers.Tracer("test")})
	require.NoError(w.t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(w.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	wait := sync.OnceValue(func() error { return <-ended })
	w.t.Cleanup(func() {
		stop()
		require.NoError(w.t, wait())
	})
	return running{Sender: s, stop: stop, wait: wait}
}

// event stores one event for the keys and gives its id and body.
func (w *world) event(keys ...int32) (id string, body []byte) {
	w.t.Helper()
	return w.eventIn("", keys...)
}

// eventIn is event for one that was fanned out in a trace.
func (w *world) eventIn(traceParent string, keys ...int32) (id string, body []byte) {
	w.t.Helper()
	id = uuid.Must(uuid.NewV7()).String()
	body = []byte(`{"id":"` + id + `"}`)
	require.NoError(w.t, w.store.FanOut(w.t.Context(), []store.Event{{
		TenantID: tenant, ID: id, Type: "order.created", Body: body, KeyIDs: keys, TraceParent: traceParent,
	}}, nil))
	return id, body
}

type row struct {
	State    string
	Attempts int
	Next     *time.Time
	Leased   bool
	Logged   int
}

func (w *world) row(eventID string, key int32) row {
	var r row
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `
SELECT state, attempts, next_attempt_at, lease_token IS NOT NULL,
       (SELECT count(*) FROM attempts a WHERE a.event_id = d.event_id AND a.key_id = d.key_id)
  FROM deliveries d WHERE event_id = $1 AND key_id = $2`, eventID, key).
		Scan(&r.State, &r.Attempts, &r.Next, &r.Leased, &r.Logged))
	return r
}

// until waits for a delivery to be as the condition says.
func (w *world) until(eventID string, key int32, is func(r row) bool) row {
	w.t.Helper()
	var last row
	require.Eventually(w.t, func() bool {
		last = w.row(eventID, key)
		return is(last)
	}, soon, often, "delivery of %s", eventID)
	return last
}

func inState(state string) func(r row) bool { return func(r row) bool { return r.State == state } }

func attempted(n int) func(r row) bool {
	return func(r row) bool { return r.Attempts == n && !r.Leased }
}
