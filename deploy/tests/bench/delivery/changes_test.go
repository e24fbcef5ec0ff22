package delivery_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// warmUp is the time before the measured time, at the same rate.
const warmUp = 3 * time.Second

// writer makes changes for the tenants in turn, and records when each was due and when its response arrived.
type writer struct {
	change  makeChange
	tenants []tenant

	lock sync.Mutex
	// due and answered hold the measured changes by their record. A latency from the due time includes all waits before the
	// record, also if this process or the platform falls behind.
	due, answered map[string]time.Time
	// endpoints holds the indexes of their tenants.
	endpoints map[string]int
	// late is the largest delay with which a measured call began.
	late time.Duration
}

func newWriter(change makeChange, tenants []tenant) *writer {
	return &writer{
		change: change, tenants: tenants,
		due: map[string]time.Time{}, answered: map[string]time.Time{}, endpoints: map[string]int{},
	}
}

// run makes changes at the rate for the warm-up and then for the measured time.
func (w *writer) run(b *testing.B, perSecond int, measured time.Duration) {
	b.Helper()
	w.late = fixture.AtRate(b, perSecond, warmUp, measured, func(c fixture.Call) error {
		index := c.Index % len(w.tenants)
		id, err := w.change(b.Context(), w.tenants[index])
		now := time.Now()
		if err == nil && c.Measured {
			w.lock.Lock()
			defer w.lock.Unlock()
			w.due[id], w.answered[id], w.endpoints[id] = c.Due, now, index
		}
		return err
	})
	require.Len(b, w.answered, int(measured/(time.Second/time.Duration(perSecond))))
}

// makeChange makes one change of a tenant's record and returns the record's id after the commit.
type makeChange func(ctx context.Context, of tenant) (id string, err error)

// placeOrders places orders at the orders service, by keys that have no webhook.
func (p *platform) placeOrders(b *testing.B) makeChange {
	b.Helper()
	orders := ordersv1.NewOrdersServiceClient(p.Dial(b, "GIFTING_GRPC_ORDERS"))
	return func(ctx context.Context, of tenant) (string, error) {
		ctx, err := caller.Outgoing(ctx, caller.Principal{
			TenantID: of.ID, KeyID: of.key + 1_000_000, KeyName: "benchmark",
			Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}, AllBrands: true,
		}, caller.Request{IdempotencyKey: uuid.NewString(), Fingerprint: []byte("benchmark")})
		if err != nil {
			return "", err
		}
		placed, err := orders.PlaceOrder(ctx, of.Order())
		return placed.GetOrder().GetId(), err
	}
}

// recordChanges writes outbox rows and wakes the relay after the commit, as a service does, but without a record. So nearly all
// processor time is available for the work after the commit.
func (p *platform) recordChanges(b *testing.B) makeChange {
	b.Helper()
	pool := p.Pool(b, "orders", connections)
	waker := outbox.NewWaker(pool, slog.Default())
	waking, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- waker.Run(waking) }()
	b.Cleanup(func() {
		stop()
		require.NoError(b, <-ended)
	})
	return func(ctx context.Context, of tenant) (string, error) {
		id := uuid.NewString()
		event := outbox.Event{
			ID: uuid.Must(uuid.NewV7()).String(), Type: "order.created", TenantID: of.ID, BrandID: of.Brand, SubjectID: id,
			OccurredAt: time.Now(), Data: fmt.Appendf(nil, `{"id":%q,"text":%q}`, id, text),
		}
		err := postgres.Pipeline(ctx, pool, func(batch *pgx.Batch) {
			// As by the write of a record, the transaction has a number before its row has one. Otherwise the relay may take the
			// row's for one that nobody uses.
			batch.Queue("SELECT pg_current_xact_id()")
			outbox.Append(ctx, batch, event)
		})
		waker.Wake()
		return id, err
	}
}

const (
	// manyHealthy of the endpoints respond, manySlow respond after slowness, and manyDead never.
	manyHealthy, manySlow, manyDead = 80, 20, 100

	manyEndpoints = manyHealthy + manySlow + manyDead
)

// BenchmarkBesideManyDeadEndpoints measures how fast the healthy ones of 200 endpoints get their events: first alone, while the
// other changes are of tenants without webhooks, then, in the same run, while they go to 100 dead endpoints and 20 slow ones.
func BenchmarkBesideManyDeadEndpoints(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes more than a minute")
	}
	r := fixture.NewReceiver(b)
	urls := r.URLs(manyHealthy)
	for endpoint := manyHealthy; endpoint < manyEndpoints; endpoint++ {
		path := fixture.Dead
		if endpoint < manyHealthy+manySlow {
			path = fixture.Slow
		}
		urls = append(urls, r.URL(endpoint, path))
	}
	p, all := newFixture(b, append(urls, make([]string, manySlow+manyDead)...))
	tenants, alone := all[:manyEndpoints], slices.Concat(all[:manyHealthy], all[manyEndpoints:])
	var bad []int
	for endpoint := manyHealthy; endpoint < manyEndpoints; endpoint++ {
		bad = append(bad, endpoint)
	}
	change := p.recordChanges(b)
	var without, with fixture.Latencies
	fixture.Once(b, func() {
		without = p.latencies(b, r, change, alone, bad, isolationTime)
		with = p.latencies(b, r, change, tenants, bad, isolationTime)
	})
	reportBeside(b, without, with)
}

// reportBeside reports the latencies without and with what disturbs them.
func reportBeside(b *testing.B, without, with fixture.Latencies) {
	b.Helper()
	b.ReportMetric(without.At(.99), "p99-ms-without")
	b.ReportMetric(with.At(.99), "p99-ms-with")
	b.ReportMetric(with.At(.99)/without.At(.99), "with/without")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("without: %s; with: %s; load %.1f", without, with, fixture.Load(b))
}

const (
	// isolationRate is that of the changes of all endpoints, healthy ones or not.
	isolationRate = 200
	// isolationTime gives 3,200 changes to the healthy ones of many endpoints.
	isolationTime = 40 * time.Second
)

// latencies measures at all endpoints but the bad ones, for a time at isolationRate.
func (p *platform) latencies(
	b *testing.B, r *fixture.Receiver, change makeChange, tenants []tenant, bad []int, measured time.Duration,
) fixture.Latencies {
	b.Helper()
	w := newWriter(change, tenants)
	w.run(b, isolationRate, measured)
	maps.DeleteFunc(w.answered, func(order string, _ time.Time) bool { return slices.Contains(bad, w.endpoints[order]) })
	return fixture.Between(p.Recorded(b, w.answered), await(b, r, w))
}
