package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// insertOfLink inserts an order that was placed from a personal link at a time.
const insertOfLink = `INSERT INTO orders (tenant_id, id, reference, source, brand_id, status, item_kind, product_name,
  budget_amount, budget_currency, delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at,
  personal_link_id, external_order_id)
VALUES ($1::uuid, $2::uuid, gen_random_uuid()::text, 'PERSONAL_LINK', $1::uuid, $4, 'CUSTOM', 'Cup', 10, 'SEK', 'SE', false,
  'sealed', $5, $5, $3, $2::text)`

// Another tenant may have records with the same ids.
func TestRecordsOfOtherTenantsWithTheSameIDsAreNotFound(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, store.Migrations())
	s := store.New(pool, nil, nil)
	own, other, id, link := uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()
	at := time.Now().UTC().Truncate(time.Second)
	insert(t, pool, own, id, link, "COMPLETED", at)
	insert(t, pool, other, id, link, "SENT", at.Add(time.Minute))
	changed, err := s.ChangedOrdersOf(t.Context(), own, []string{id})
	require.NoError(t, err)
	require.Len(t, changed, 1)
	require.Equal(t, at, changed[0].At.UTC())
	changed, err = s.ChangedOrders(t.Context(), own, store.ChangedOrder{ID: uuid.Nil.String()}, 10)
	require.NoError(t, err)
	require.Len(t, changed, 1)
	_, brand, err := s.FindByExternalID(t.Context(), other, id)
	require.NoError(t, err)
	require.Equal(t, other, brand)
}

func TestWorkOnOrdersOfOtherTenantsIsNoWork(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, store.Migrations())
	s := store.New(pool, nil, nil)
	own, other, id := uuid.NewString(), uuid.NewString(), uuid.NewString()
	insert(t, pool, own, id, uuid.NewString(), "SENT", time.Now().Add(-48*time.Hour))
	insert(t, pool, other, id, uuid.NewString(), "SENT", time.Now())
	_, err := pool.Exec(t.Context(), `INSERT INTO order_messages
  (tenant_id, order_id, id, author_kind, author_id, author_name, body_bytes, created_at)
		VALUES ($1, $2, gen_random_uuid(), 'SYSTEM', '', '', 0, now())`, other, id)
	require.NoError(t, err)
	stale, err := s.StaleOrders(t.Context(), 24*time.Hour, 10)
	require.NoError(t, err)
	require.Len(t, stale, 1)
	require.Equal(t, own, stale[0].TenantID)
}

func insert(t *testing.T, pool *pgxpool.Pool, tenantID, id, link, status string, at time.Time) {
	t.Helper()
	_, err := pool.Exec(t.Context(), insertOfLink, tenantID, id, link, status, at)
	require.NoError(t, err)
}
