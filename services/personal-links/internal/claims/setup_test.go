package claims_test

import (
	"context"
	"encoding/base64"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// fixture is a database of links and a fake orders service.
type fixture struct {
	pool   *pgxpool.Pool
	store  *store.Store
	orders *claimstest.Orders
	tenant string
	// lostClaims counts the claims that links have lost.
	lostClaims atomic.Int32
}

func setup(t *testing.T) *fixture {
	t.Helper()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	pool := pgtest.New(t, store.Migrations(), outbox.Migrations())
	links := store.New(pool, ring, sealtest.Writer(t, sealtest.Keys("a")))
	return &fixture{pool: pool, store: links, orders: claimstest.New(), tenant: uuid.NewString()}
}

// instance is a process of the service with the failure.
func (f *fixture) instance(failure *claimstest.Failure) *claims.Saga {
	return claims.New(claims.Deps{
		Links:  claimstest.FailingLinks{Store: f.store, Failure: failure},
		Orders: claimstest.FailingOrders{Orders: f.orders, Failure: failure},
		Clock:  time.Now, Log: slog.New(slog.DiscardHandler), Wake: func() {}, LostClaim: func(context.Context) { f.lostClaims.Add(1) },
		Lease: time.Hour,
	})
}

func healthy() *claimstest.Failure { return &claimstest.Failure{At: -1} }

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
	_, err := f.pool.Exec(t.Context(),
		"UPDATE links SET claim_lease_until = now() - interval '1 second' WHERE claim_order_id IS NOT NULL")
	require.NoError(t, err)
}

// requireConverged checks that the link is claimed with one order and both events, or open with neither.
func (f *fixture) requireConverged(t *testing.T, l *rules.Link) *rules.Link {
	t.Helper()
	l = f.get(t, l)
	rows, err := f.pool.Query(t.Context(), "SELECT recorded_at FROM outbox WHERE type = 'personal_link.claimed' AND subject_id = $1",
		l.Record.GetId())
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
