package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	selectTombstone = `SELECT EXISTS (SELECT 1 FROM reservation_outcomes WHERE order_id = $1 AND outcome = 'ABANDONED')`

	// Waits for an order that is committing under the same id, and then leaves it alone.
	abandonClaim = `INSERT INTO reservation_outcomes (order_id, outcome) VALUES ($1, 'ABANDONED') ON CONFLICT (order_id) DO NOTHING`
)

// FindClaim gives the order placed under the id a claim chose, or nil, and whether the claim was
// abandoned.
func (s *Store) FindClaim(ctx context.Context, tenantID, orderID string) (order *ordersv1.Order, abandoned bool, err error) {
	b := &pgx.Batch{}
	queueFind(b, tenantID, orderID, &order)
	b.Queue(selectTombstone, orderID).QueryRow(func(row pgx.Row) error { return row.Scan(&abandoned) })
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, false, fmt.Errorf("find claimed order: %w", err)
	}
	return order, abandoned, nil
}

// AbandonClaim makes sure that no order will be placed under the id any more, unless one was: that
// is the answer.
func (s *Store) AbandonClaim(ctx context.Context, tenantID, orderID string) (order *ordersv1.Order, err error) {
	b := &pgx.Batch{}
	b.Queue(abandonClaim, orderID)
	queueFind(b, tenantID, orderID, &order)
	// Statements sent alone would share one implicit transaction, but each sees what committed
	// before it began.
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("abandon claimed order: %w", err)
	}
	return order, nil
}

func queueFind(b *pgx.Batch, tenantID, orderID string, into **ordersv1.Order) {
	b.Queue(selectOrder, tenantID, orderID).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scanOrder)
		if len(found) == 1 {
			*into = found[0]
		}
		return err
	})
}
