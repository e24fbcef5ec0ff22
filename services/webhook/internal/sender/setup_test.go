package sender

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	tenant       = "0190aaaa-0000-7000-8000-000000000001"
	waitLimit    = 10 * time.Second
	pollInterval = 5 * time.Millisecond
)

// clock is a time that changes only when it is set.
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

type fixture struct {
	t         *testing.T
	pool      *pgxpool.Pool
	store     *store.Store
	directory *tenantstest.Directory
	clock     *clock
	client    *http.Client
	cfg       Config
	cell      identity.Cell
	tel       *telemetrytest.Record
	// reader opens the events of senders that start; nil: events are not sealed.
	reader *seal.EventReader
	// noSearch lets every search fail.
	noSearch bool
	// healthy are the endpoints that senders know to be healthy when they start.
	healthy []int32
	// goneInterval replaces the constant.
	goneInterval time.Duration
	// heartbeat replaces the constant unless it is 0. It is as often as the poll, because the clock of a test jumps.
	heartbeat time.Duration
	// occupiedAfter replaces the constant unless it is 0.
	occupiedAfter time.Duration
}

func setup(t *testing.T) *fixture {
	t.Helper()
	pool := pgtest.New(t, store.Migrations())
	webhooktest.RequireConsistentRows(t, pool)
	c := &clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return &fixture{
		t: t, pool: pool, store: store.NewAt(pool, c.now),
		directory: tenantstest.NewDirectory(t),
		clock:     c,
		tel:       telemetrytest.New(),
		// What a test counts is not disturbed by lookups.
		goneInterval: time.Hour,
		client:       netguard.NewClient(netguard.Options{AllowLoopback: true}),
		cfg: Config{
			Workers: 16, PerEndpoint: 8, Timeout: 10 * time.Second, Lease: 30 * time.Second, Poll: 50 * time.Millisecond,
		},
	}
}

// neverTimeOut lets an attempt take as long as the test, and does not make its endpoint slow: what the test counts does not
// depend on how fast the machine is.
func (f *fixture) neverTimeOut() {
	f.occupiedAfter, f.cfg.Timeout, f.cfg.Lease = time.Hour, time.Hour, 2*time.Hour
	f.client = netguard.NewClient(netguard.Options{AllowLoopback: true, Timeout: time.Hour})
}

// receiver makes a receiver and sets it as the key's endpoint. It responds with 200, or as given.
func (f *fixture) receiver(key int32, respond ...http.HandlerFunc) *webhooktest.Receiver {
	f.t.Helper()
	r := webhooktest.NewReceiver(f.t)
	for _, h := range respond {
		r.Respond(h)
	}
	f.activate(key, r)
	return r
}

// activate makes the receiver the endpoint of the key.
func (f *fixture) activate(key int32, r *webhooktest.Receiver) {
	f.directory.SetEndpoint(r.Endpoint(key))
}

// lookupAge is how old an earlier lookup may be in these tests, which count lookups on a busy machine.
const lookupAge = time.Hour

// lookups is how often endpoints were looked up.
func (f *fixture) lookups() int { return f.directory.Calls("GetEndpoints") }

// running is a running sender.
type running struct {
	*Sender
	// stop ends Run; wait returns its result.
	stop func()
	wait func() error
}

// start runs a sender until the test ends or it is stopped.
func (f *fixture) start() running {
	f.t.Helper()
	return f.startAt(f.clock.now)
}

// startAt runs a sender with a clock that differs from the database's.
func (f *fixture) startAt(now func() time.Time) running {
	f.t.Helper()
	s, err := New(Deps{
		Store: f.store, Directory: f.directory.Client, Client: webhookclient.New(f.client, now), Now: now, Reader: f.reader,
		Telemetry: f.tel.Telemetry, Cell: f.cell,
	}, f.cfg)
	require.NoError(f.t, err)
	if f.noSearch {
		s.discoverTimeout = time.Nanosecond
	}
	s.maxLookupAge, s.goneInterval, s.heartbeat = lookupAge, f.goneInterval, cmp.Or(f.heartbeat, f.cfg.Poll)
	if f.occupiedAfter != 0 {
		s.schedule.occupiedAfter = f.occupiedAfter
	}
	for _, key := range f.healthy {
		s.schedule.startAttempt(endpointOfKey(key)).finish(true)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(f.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	wait := sync.OnceValue(func() error { return <-ended })
	f.t.Cleanup(func() {
		stop()
		require.NoError(f.t, wait())
	})
	return running{Sender: s, stop: stop, wait: wait}
}

// newEvent makes an event for the keys.
func newEvent(keys ...int32) store.Event {
	id := uuid.Must(uuid.NewV7()).String()
	return store.Event{
		TenantID: tenant, ID: id, Type: "order.created", BrandID: uuid.NewString(), SubjectID: uuid.NewString(),
		Body: []byte(`{"id":"` + id + `"}`), KeyIDs: keys,
	}
}

// event stores one event for the keys and returns its id.
func (f *fixture) event(keys ...int32) string { return f.fanOut(newEvent(keys...)) }

// fanOut stores an event and returns its id.
func (f *fixture) fanOut(e store.Event) string {
	f.t.Helper()
	_, err := f.store.FanOut(f.t.Context(), 0, []store.Event{e})
	require.NoError(f.t, err)
	return e.ID
}

func endpointOfKey(key int32) store.Endpoint { return store.Endpoint{TenantID: tenant, KeyID: key} }

// due are the endpoints of the keys, as the fan-out reports them.
func (f *fixture) due(keys ...int32) []store.Due {
	var list []store.Due
	for _, key := range keys {
		list = append(list, store.Due{Endpoint: endpointOfKey(key), Since: f.clock.now()})
	}
	return list
}

// claimDue claims what is due, as another sender.
func claimDue(t *testing.T, st *store.Store, lease time.Duration) []store.Delivery {
	t.Helper()
	r := store.ClaimRequest{Sender: rand.Int64(), Share: 8, Lease: lease, Limit: 10}
	require.NoError(t, st.Register(t.Context(), r.Sender))
	found, err := st.Discover(t.Context(), r.Sender, false)
	require.NoError(t, err)
	require.True(t, found.Registered)
	for _, d := range found.Due {
		r.Endpoints = append(r.Endpoints, store.ClaimTarget{Due: d, Rows: 8})
	}
	claimed, err := st.Claim(t.Context(), r)
	require.NoError(t, err)
	return claimed.Deliveries
}

type row struct {
	State    string
	Attempts int
	Next     *time.Time
	Leased   bool
	Logged   int
}

func (f *fixture) row(eventID string, key int32) row {
	var r row
	require.NoError(f.t, f.pool.QueryRow(f.t.Context(), `
SELECT state, attempts, next_attempt_at, lease_token IS NOT NULL,
       (SELECT count(*) FROM attempts a WHERE a.event_id = d.event_id AND a.key_id = d.key_id)
  FROM deliveries d WHERE event_id = $1 AND key_id = $2`, eventID, key).
		Scan(&r.State, &r.Attempts, &r.Next, &r.Leased, &r.Logged))
	return r
}

// waitFor waits until the condition is true for a delivery.
func (f *fixture) waitFor(eventID string, key int32, condition func(r row) bool) row {
	f.t.Helper()
	var last row
	require.Eventually(f.t, func() bool {
		last = f.row(eventID, key)
		return condition(last)
	}, waitLimit, pollInterval, "delivery of %s", eventID)
	return last
}

func inState(state string) func(r row) bool { return func(r row) bool { return r.State == state } }

func attempted(n int) func(r row) bool {
	return func(r row) bool { return r.Attempts == n && !r.Leased }
}
