package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// ErrNotFound is the answer to an order that does not exist in the tenant.
var ErrNotFound = errors.New("no such order")

var selectOrder = `SELECT ` + recordColumns + ` FROM orders WHERE tenant_id = $1 AND id = $2`

// Get reads one order's record.
func (s *Store) Get(ctx context.Context, tenantID, id string) (*ordersv1.Order, error) {
	rows, err := s.pool.Query(ctx, selectOrder, tenantID, id)
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	order, err := pgx.CollectExactlyOneRow(rows, scanOrder)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	return order, nil
}
