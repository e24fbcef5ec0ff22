package delivery_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

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
	w.late = fixture.AtRate(b, perSecond, measured, func(c fixture.Call) error {
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
		ctx, err := of.Call(ctx, of.key+1_000_000)
		if err != nil {
			return "", err
		}
		placed, err := orders.PlaceOrder(ctx, of.Order())
		return placed.GetOrder().GetId(), err
	}
}

// acceptOrders places orders through the gateway, by keys that have no webhook.
func (p *platform) acceptOrders(b *testing.B) makeChange {
	b.Helper()
	return acceptBy(p.NewClients(b))
}

func acceptBy(clients *fixture.Clients) makeChange {
	return func(_ context.Context, of tenant) (id string, err error) {
		err = clients.Use(of.keys, func(c *fixture.Client) error {
			order, _, err := c.Place(of.Tenant, uuid.NewString())
			id = order.ID
			return err
		})
		return id, err
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
