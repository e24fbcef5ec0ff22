package delivery_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

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

// recordChanges writes outbox rows and wakes the relay after the commit, as a service does, but without a record. So nearly
// all processor time is left for what comes after the commit.
func (p *platform) recordChanges(b *testing.B) makeChange {
	b.Helper()
	pool := p.database(b, "orders")
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
		err := postgres.Pipeline(ctx, pool, func(batch *pgx.Batch) { outbox.Append(ctx, batch, event) })
		waker.Wake()
		return id, err
	}
}
