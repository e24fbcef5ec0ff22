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
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// orders keeps what ClaimsService promises, and the events it records, in its own "database".
type orders struct {
	mu        sync.Mutex
	placed    map[string]*ordersv1.PlaceClaimedOrderRequest
	created   map[string]time.Time
	abandoned map[string]bool
	refusal   error
}

func (o *orders) PlaceClaimedOrder(
	_ context.Context, r *ordersv1.PlaceClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch _, again := o.placed[r.GetOrderId()]; {
	case o.abandoned[r.GetOrderId()]:
		return &ordersv1.PlaceClaimedOrderResponse{}, nil
	case !again && o.refusal != nil:
		return nil, o.refusal
	case !again:
		o.placed[r.GetOrderId()], o.created[r.GetOrderId()] = r, time.Now()
	}
	return &ordersv1.PlaceClaimedOrderResponse{Order: &ordersv1.Order{Id: r.GetOrderId()}}, nil
}

func (o *orders) AbandonClaimedOrder(
	_ context.Context, r *ordersv1.AbandonClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.placed[r.GetOrderId()]; ok {
		return &ordersv1.AbandonClaimedOrderResponse{Order: &ordersv1.Order{Id: r.GetOrderId()}}, nil
	}
	o.abandoned[r.GetOrderId()] = true
	return &ordersv1.AbandonClaimedOrderResponse{}, nil
}

// of gives the ids of the orders of a link.
func (o *orders) of(linkID string) (ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, r := range o.placed {
		if r.GetPersonalLinkId() == linkID {
			ids = append(ids, id)
		}
	}
	return ids
}

var errBroken = errors.New("broken")

// fault breaks one instance at one point: before or after the effect of its n-th step.
type fault struct {
	mu sync.Mutex
	// at counts down to the point; negative: never.
	at int
	// forGood lets nothing happen after the point, as a crash of the process does; else one call fails.
	forGood bool
	dead    bool
	met     bool
}

// point says whether the instance breaks here.
func (f *fault) point() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return true
	}
	f.at--
	if f.at != -1 {
		return false
	}
	f.met, f.dead = true, f.forGood
	return true
}

func step[T any](f *fault, effect func() (T, error)) (none T, _ error) {
	if f.point() {
		return none, errBroken
	}
	out, err := effect()
	if f.point() {
		return none, errBroken
	}
	return out, err
}

// brittleLinks and brittleOrders are one instance's view of the store and of orders.
type brittleLinks struct {
	*store.Store
	*fault
}

func (b brittleLinks) Get(ctx context.Context, tenantID, id string) (*rules.Link, error) {
	return step(b.fault, func() (*rules.Link, error) { return b.Store.Get(ctx, tenantID, id) })
}

func (b brittleLinks) Mark(ctx context.Context, tenantID, id, orderID string, lease time.Duration) (*rules.Link, error) {
	return step(b.fault, func() (*rules.Link, error) { return b.Store.Mark(ctx, tenantID, id, orderID, lease) })
}

func (b brittleLinks) Finish(ctx context.Context, tenantID, id, orderID string, now time.Time) (*rules.Link, error) {
	return step(b.fault, func() (*rules.Link, error) { return b.Store.Finish(ctx, tenantID, id, orderID, now) })
}

func (b brittleLinks) Clear(ctx context.Context, tenantID, id, orderID string) (*rules.Link, error) {
	return step(b.fault, func() (*rules.Link, error) { return b.Store.Clear(ctx, tenantID, id, orderID) })
}

func (b brittleLinks) TakeStale(ctx context.Context, lease time.Duration, limit int) ([]*rules.Link, error) {
	return step(b.fault, func() ([]*rules.Link, error) { return b.Store.TakeStale(ctx, lease, limit) })
}

type brittleOrders struct {
	*orders
	*fault
}

func (b brittleOrders) PlaceClaimedOrder(
	ctx context.Context, r *ordersv1.PlaceClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	return step(b.fault, func() (*ordersv1.PlaceClaimedOrderResponse, error) { return b.orders.PlaceClaimedOrder(ctx, r) })
}

func (b brittleOrders) AbandonClaimedOrder(
	ctx context.Context, r *ordersv1.AbandonClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	return step(b.fault, func() (*ordersv1.AbandonClaimedOrderResponse, error) { return b.orders.AbandonClaimedOrder(ctx, r) })
}

type bench struct {
	pool   *pgxpool.Pool
	store  *store.Store
	orders *orders
	tenant string
}

func setup(t *testing.T) *bench {
	t.Helper()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	b := &bench{
		pool: pgtest.New(t, store.Migrations(), outbox.Migrations()), tenant: uuid.NewString(),
		orders: &orders{
			placed: map[string]*ordersv1.PlaceClaimedOrderRequest{}, created: map[string]time.Time{}, abandoned: map[string]bool{},
		},
	}
	b.store = store.New(b.pool, ring)
	return b
}

// instance is one process of the service, which breaks as f says.
func (b *bench) instance(f *fault) *claims.Saga {
	return &claims.Saga{
		Links: brittleLinks{b.store, f}, Orders: brittleOrders{b.orders, f}, Lease: time.Hour,
		Clock: time.Now, Log: slog.New(slog.DiscardHandler), Woken: func() {},
	}
}

func healthy() *fault { return &fault{at: -1} }

func (b *bench) newLink(t *testing.T) *rules.Link {
	t.Helper()
	batch := rules.NewBatch(
		rules.Sender{TenantID: b.tenant, KeyID: 1, BrandID: uuid.NewString(), ClaimURL: "https://gifts.example.com/c"},
		rules.Selection{CampaignID: uuid.NewString()}, &tenantsv1.GetTenantSettingsResponse{},
		[]*linksv1.PersonalLinkRecipient{{Label: "Ann"}}, time.Now())
	queue, err := b.store.QueueBatch(t.Context(), batch)
	require.NoError(t, err)
	require.NoError(t, postgres.Pipeline(t.Context(), b.pool, func(p *pgx.Batch) { queue(p) }))
	return b.get(t, batch.Links[0].Link)
}

func (b *bench) get(t *testing.T, l *rules.Link) *rules.Link {
	t.Helper()
	got, err := b.store.Get(t.Context(), b.tenant, l.Record.GetId())
	require.NoError(t, err)
	return got
}

func request(l *rules.Link) *ordersv1.PlaceClaimedOrderRequest {
	return &ordersv1.PlaceClaimedOrderRequest{TenantId: l.TenantID, PersonalLinkId: l.Record.GetId()}
}

// endLeases lets the time of every claim under way pass.
func (b *bench) endLeases(t *testing.T) {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), "UPDATE links SET claim_lease_until = now() - interval '1 second' WHERE claim_order_id IS NOT NULL")
	require.NoError(t, err)
}

// claimedEvents gives when the link's claim was recorded.
func (b *bench) claimedEvents(t *testing.T, l *rules.Link) []time.Time {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), "SELECT recorded_at FROM outbox WHERE type = 'personal_link.claimed' AND subject_id = $1", l.Record.GetId())
	require.NoError(t, err)
	times, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	require.NoError(t, err)
	return times
}

// requireConverged demands a claimed link with its one order and both events, or an open link and
// nothing.
func (b *bench) requireConverged(t *testing.T, l *rules.Link) *rules.Link {
	t.Helper()
	l = b.get(t, l)
	placed, events := b.orders.of(l.Record.GetId()), b.claimedEvents(t, l)
	require.Nil(t, l.ClaimOrderID, "no mark is left")
	if l.Record.GetStatus() == rules.Active {
		require.Empty(t, placed)
		require.Empty(t, events)
		return l
	}
	require.Equal(t, rules.Claimed, l.Record.GetStatus())
	require.Equal(t, []string{l.Record.GetOrderId()}, placed)
	require.Len(t, events, 1)
	require.False(t, events[0].Before(b.orders.created[l.Record.GetOrderId()]), "order.created was recorded before")
	return l
}
