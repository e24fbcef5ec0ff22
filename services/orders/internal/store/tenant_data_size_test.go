package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	insertManyOrders = `INSERT INTO orders (tenant_id, id, reference, source, brand_id, status, item_kind, product_name,
  budget_amount, budget_currency, delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at)
SELECT $1::uuid, gen_random_uuid(), gen_random_uuid()::text, 'API', $1::uuid, 'COMPLETED', 'CUSTOM', 'Cup', 10, 'SEK', 'SE',
  false, 'sealed',
  now(), now()
FROM generate_series(1, 30000)`
	insertTheirOutcomes = `INSERT INTO reservation_outcomes (tenant_id, order_id, outcome) SELECT tenant_id, id, 'PLACED' FROM orders`
	insertTheirMessages = `INSERT INTO order_messages
  (tenant_id, order_id, id, author_kind, author_id, author_name, body_bytes, created_at)
SELECT tenant_id, id, gen_random_uuid(), 'SYSTEM', '', '', 0, now() FROM orders`

	selectRead = `SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint FROM pg_stat_xact_user_tables`
)

// Otherwise the time of a batch grows with the tenant, until it is longer than a statement may take.
func TestABatchOfAnErasureReadsLittleMoreThanItErases(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, outbox.Migrations(), idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations())
	db := store.TenantData(pool, nil)
	of := tenants.Tenant{ID: uuid.NewString()}
	// Many rows may take longer than a statement of the service.
	exec := func(sql string, args ...any) {
		t.Helper()
		require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "SET LOCAL statement_timeout = 0"); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), sql, args...)
			return err
		}))
	}
	for _, tenantID := range []string{of.ID, uuid.NewString()} {
		exec(insertManyOrders, tenantID)
	}
	exec(insertTheirOutcomes)
	exec(insertTheirMessages)
	exec("ANALYZE")
	requireSmallBatch := func(t *testing.T, planned string) {
		t.Helper()
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
		read := func() (rows int) {
			require.NoError(t, tx.QueryRow(t.Context(), selectRead).Scan(&rows))
			return rows
		}
		_, err = tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = "+planned)
		require.NoError(t, err)
		before := read()
		done, err := db.EraseIn(t.Context(), tx, of)
		require.NoError(t, err)
		require.False(t, done)
		require.Less(t, read()-before, 10_000)
	}
	for _, planned := range []string{"force_generic_plan", "force_custom_plan"} {
		t.Run("messages with "+planned, func(t *testing.T) { requireSmallBatch(t, planned) })
	}
	for _, erased := range []string{"order_messages", "reservation_outcomes"} {
		exec("DELETE FROM " + erased)
		exec("ANALYZE")
		for _, planned := range []string{"force_generic_plan", "force_custom_plan"} {
			t.Run("after "+erased+" with "+planned, func(t *testing.T) { requireSmallBatch(t, planned) })
		}
	}
}
