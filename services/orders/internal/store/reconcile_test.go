package store

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

// TestTheOrdersOfHoldsAreReadWithoutScanningAllOrders counts the rows read for a
// batch of holds, which must not grow with the orders.
func TestTheOrdersOfHoldsAreReadWithoutScanningAllOrders(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rows, err := s.pool.Query(t.Context(), "SELECT id::text FROM orders ORDER BY created_at LIMIT 20")
	require.NoError(t, err)
	orders, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	reopened := uuid.NewString()
	_, err = s.pool.Exec(t.Context(), "UPDATE orders SET stock_hold_id = $2 WHERE id = $1", orders[0], reopened)
	require.NoError(t, err)

	holds := append(slices.Clone(orders), reopened)
	_, err = s.pool.Exec(t.Context(), `INSERT INTO reservation_outcomes (tenant_id, order_id, outcome)
		SELECT tenant_id, hold, 'PLACED' FROM orders, unnest(ARRAY[id, stock_hold_id]) AS hold
		WHERE id = ANY($1) AND hold IS NOT NULL`, orders)
	require.NoError(t, err)
	for range 1000 - len(holds) {
		holds = append(holds, uuid.NewString())
	}
	held, err := s.OrdersOfHolds(t.Context(), holds)
	require.NoError(t, err)
	found := map[string]string{}
	for _, h := range held {
		found[h.HoldID] = h.OrderID
	}
	want := map[string]string{reopened: orders[0]}
	for _, order := range orders[1:] {
		want[order] = order
	}
	require.Equal(t, want, found, "the reopened order holds nothing under its own id")
	require.Len(t, held, len(want))

	rowsRead, _ := pgtest.Rows(t, s.pool, selectOrdersOfHolds, holds)
	require.LessOrEqual(t, rowsRead, 3*len(holds))
}
