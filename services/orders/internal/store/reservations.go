package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// decideAbandoned abandons the orders that were not placed. Its insert waits for a concurrent commit of an order with the same
// id.
const decideAbandoned = `INSERT INTO reservation_outcomes (tenant_id, order_id, outcome)
SELECT tenant_id, order_id, 'ABANDONED' FROM unnest($1::uuid[], $2::uuid[]) AS r (tenant_id, order_id) ORDER BY order_id
ON CONFLICT (order_id) DO NOTHING`

const selectOutcomes = `SELECT order_id, outcome = 'PLACED' FROM reservation_outcomes WHERE order_id = ANY($1::uuid[])`

// Reserved names the order for which a unit of stock is reserved. Its id is that of the unit.
type Reserved struct{ TenantID, OrderID string }

// Abandon ensures that none of the orders can be placed any more, and returns those that already were and those it abandoned.
func (s *Store) Abandon(ctx context.Context, orders []Reserved) (placed, abandoned []string, err error) {
	tenantIDs := postgres.UUIDColumn(orders, func(r Reserved) string { return r.TenantID })
	orderIDs := postgres.UUIDColumn(orders, func(r Reserved) string { return r.OrderID })
	if _, err := s.pool.Exec(ctx, decideAbandoned, tenantIDs, orderIDs); err != nil {
		return nil, nil, fmt.Errorf("abandon reservations: %w", err)
	}
	rows, err := s.pool.Query(ctx, selectOutcomes, orderIDs)
	if err != nil {
		return nil, nil, fmt.Errorf("read reservation outcomes: %w", err)
	}
	var id string
	var wasPlaced bool
	_, err = pgx.ForEachRow(rows, []any{&id, &wasPlaced}, func() error {
		if wasPlaced {
			placed = append(placed, id)
		} else {
			abandoned = append(abandoned, id)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read reservation outcomes: %w", err)
	}
	return placed, abandoned, nil
}

const (
	selectReleasing = `SELECT order_id FROM reservation_outcomes WHERE outcome = 'RELEASING' ORDER BY order_id LIMIT $1`

	markReleased = `UPDATE reservation_outcomes SET outcome = 'RELEASED', decided_at = now()
WHERE order_id = ANY($1::uuid[]) AND outcome = 'RELEASING'`

	deleteFinal = `DELETE FROM reservation_outcomes WHERE order_id IN (
  SELECT order_id FROM reservation_outcomes
  WHERE outcome IN ('RELEASED', 'ABANDONED') AND decided_at < now() - $1::interval
  ORDER BY decided_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// Releasing lists the holds of cancelled orders that have not been reported to catalog.
func (s *Store) Releasing(ctx context.Context, limit int) ([]string, error) {
	return postgres.Select(ctx, s.pool, "read releases", pgx.RowTo[string], selectReleasing, limit)
}

// MarkReleased records that the holds were reported to catalog.
func (s *Store) MarkReleased(ctx context.Context, holds []string) error {
	_, err := postgres.Exec(ctx, s.pool, "mark released", markReleased, holds)
	return err
}

// DeleteOutcomes deletes up to limit final outcomes that are older than keep by the database's clock, and returns how many.
func (s *Store) DeleteOutcomes(ctx context.Context, keep time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "delete outcomes", deleteFinal, keep, limit)
}

const selectAbandoned = `SELECT EXISTS (SELECT 1 FROM reservation_outcomes WHERE order_id = $1 AND outcome = 'ABANDONED')`

// Claim identifies a claim: the id that it chose for its order, and its link.
type Claim struct {
	TenantID string
	OrderID  string
	LinkID   string
}

// FindClaim returns the order of the claim's link, or nil, and whether the claim was abandoned. The order has another id if an
// earlier claim placed it and the link has forgotten that.
func (s *Store) FindClaim(ctx context.Context, c Claim) (order *ordersv1.Order, abandoned bool, err error) {
	b := &pgx.Batch{}
	queueFind(b, c, &order)
	b.Queue(selectAbandoned, c.OrderID).QueryRow(func(row pgx.Row) error { return row.Scan(&abandoned) })
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, false, fmt.Errorf("find claimed order: %w", err)
	}
	return order, abandoned, nil
}

// AbandonClaim ensures that no order will be placed under the id. If one was placed, or the link has another order, it returns
// that order.
func (s *Store) AbandonClaim(ctx context.Context, c Claim) (order *ordersv1.Order, err error) {
	b := &pgx.Batch{}
	b.Queue(decideAbandoned, []string{c.TenantID}, []string{c.OrderID})
	queueFind(b, c, &order)
	// The statements share one implicit transaction, but each sees what was committed before the statement began.
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("abandon claimed order: %w", err)
	}
	return order, nil
}

// Each half uses its own index.
var selectClaimed = selectOrder + ` UNION ALL
SELECT ` + recordColumns.Select() + ` FROM orders
WHERE tenant_id = $1 AND personal_link_id = $3 AND personal_link_id IS NOT NULL AND id <> $2`

// queueFind prefers the order with the claim's own id.
func queueFind(b *pgx.Batch, c Claim, into **ordersv1.Order) {
	b.Queue(selectClaimed, c.TenantID, c.OrderID, c.LinkID).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scanOrder)
		for _, order := range found {
			if *into == nil || order.GetId() == c.OrderID {
				*into = order
			}
		}
		return err
	})
}
