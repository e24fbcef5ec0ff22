package claims_test

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

var errBroken = errors.New("broken")

// failure breaks one instance at one point: before or after the effect of one of its steps.
type failure struct {
	mu sync.Mutex
	// at counts down to the point; negative: never.
	at int
	// crash means that every later call fails too, not only one.
	crash bool
	dead  bool
	met   bool
}

// point reports whether the instance breaks here.
func (b *failure) point() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		return true
	}
	b.at--
	if b.at != -1 {
		return false
	}
	b.met, b.dead = true, b.crash
	return true
}

func step[T any](b *failure, effect func() (T, error)) (none T, _ error) {
	if b.point() {
		return none, errBroken
	}
	out, err := effect()
	if b.point() {
		return none, errBroken
	}
	return out, err
}

// failingLinks and failingOrders are one instance's view of the store and of orders.
type failingLinks struct {
	*store.Store
	b *failure
}

func (l failingLinks) Get(ctx context.Context, tenantID, id string) (*rules.Link, error) {
	return step(l.b, func() (*rules.Link, error) { return l.Store.Get(ctx, tenantID, id) })
}

func (l failingLinks) LockClaim(ctx context.Context, tenantID, id, orderID string, lease time.Duration) (*rules.Link, error) {
	return step(l.b, func() (*rules.Link, error) { return l.Store.LockClaim(ctx, tenantID, id, orderID, lease) })
}

func (l failingLinks) FinishClaim(
	ctx context.Context, tenantID, id, claimID string, o rules.ClaimOutcome, now time.Time,
) (*rules.Link, error) {
	return step(l.b, func() (*rules.Link, error) { return l.Store.FinishClaim(ctx, tenantID, id, claimID, o, now) })
}

func (l failingLinks) UnlockClaim(ctx context.Context, tenantID, id, orderID string) (*rules.Link, error) {
	return step(l.b, func() (*rules.Link, error) { return l.Store.UnlockClaim(ctx, tenantID, id, orderID) })
}

func (l failingLinks) TakeExpiredClaims(ctx context.Context, lease time.Duration, limit int) ([]*rules.Link, error) {
	return step(l.b, func() ([]*rules.Link, error) { return l.Store.TakeExpiredClaims(ctx, lease, limit) })
}

type failingOrders struct {
	*claimstest.Orders
	b *failure
}

func (o failingOrders) PlaceClaimedOrder(
	ctx context.Context, r *ordersv1.PlaceClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	return step(o.b, func() (*ordersv1.PlaceClaimedOrderResponse, error) { return o.Orders.PlaceClaimedOrder(ctx, r) })
}

func (o failingOrders) AbandonClaimedOrder(
	ctx context.Context, r *ordersv1.AbandonClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	return step(o.b, func() (*ordersv1.AbandonClaimedOrderResponse, error) { return o.Orders.AbandonClaimedOrder(ctx, r) })
}

// fixture is a database of links and a fake orders service.
type fixture struct {
	pool   *pgxpool.Pool
	store  *store.Store
	orders *claimstest.Orders
	tenant string
}

func setup(t *testing.T) *fixture {
	t.Helper()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	pool := pgtest.New(t, store.Migrations(), outbox.Migrations())
	return &fixture{pool: pool, store: store.New(pool, ring, nil), orders: claimstest.New(), tenant: uuid.NewString()}
}

// instance is a process of the service with the failure.
func (f *fixture) instance(b *failure) *claims.Saga {
	return claims.New(claims.Deps{
		Links: failingLinks{f.store, b}, Orders: failingOrders{f.orders, b},
		Clock: time.Now, Log: slog.New(slog.DiscardHandler), Wake: func() {}, LostClaim: func(context.Context) {},
	}, claims.Config{Lease: time.Hour})
}

func healthy() *failure { return &failure{at: -1} }

func (f *fixture) newLink(t *testing.T) *rules.Link {
	t.Helper()
	batch := rules.NewBatch(
		rules.Sender{TenantID: f.tenant, KeyID: 1, BrandID: uuid.NewString(), ClaimURL: "https://gifts.example.com/c"},
		rules.Selection{CampaignID: new(uuid.NewString())}, &tenantsv1.GetTenantSettingsResponse{},
		[]*linksv1.PersonalLinkRecipient{{Label: "Ann"}}, time.Now())
	queue, err := f.store.QueueBatch(t.Context(), batch)
	require.NoError(t, err)
	require.NoError(t, postgres.Pipeline(t.Context(), f.pool, queue))
	return f.get(t, batch.Links[0].Link)
}

func (f *fixture) get(t *testing.T, l *rules.Link) *rules.Link {
	t.Helper()
	got, err := f.store.Get(t.Context(), f.tenant, l.Record.GetId())
	require.NoError(t, err)
	return got
}

func request(l *rules.Link) *ordersv1.PlaceClaimedOrderRequest {
	return &ordersv1.PlaceClaimedOrderRequest{TenantId: l.TenantID, PersonalLinkId: l.Record.GetId()}
}

// endLeases ends the lease of every claim in flight.
func (f *fixture) endLeases(t *testing.T) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(), "UPDATE links SET claim_lease_until = now() - interval '1 second' WHERE claim_order_id IS NOT NULL")
	require.NoError(t, err)
}

// requireConverged checks that the link is claimed with one order and both events, or open with neither.
func (f *fixture) requireConverged(t *testing.T, l *rules.Link) *rules.Link {
	t.Helper()
	l = f.get(t, l)
	rows, err := f.pool.Query(t.Context(), "SELECT recorded_at FROM outbox WHERE type = 'personal_link.claimed' AND subject_id = $1", l.Record.GetId())
	require.NoError(t, err)
	events, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	require.NoError(t, err)
	placed := f.orders.Of(l.Record.GetId())
	require.Nil(t, l.ClaimOrderID, "no claim lock is left")
	if l.Record.GetStatus() == rules.Active {
		require.Empty(t, placed)
		require.Empty(t, events)
		return l
	}
	require.Equal(t, rules.Claimed, l.Record.GetStatus())
	require.Equal(t, []string{l.Record.GetOrderId()}, placed)
	require.Len(t, events, 1)
	require.False(t, events[0].Before(f.orders.CreatedAt(l.Record.GetOrderId())), "order.created was recorded before")
	return l
}
