package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const listTenants = `SELECT tenant_id::text FROM feed_tenants
WHERE tenant_id > $1 ORDER BY tenant_id LIMIT $2`

// Tenants reads up to limit of the tenants that have a feed, by id, and the oldest day of the feed.
func (s *Store) Tenants(ctx context.Context, after string, limit int) (tenants []string, oldest time.Time, err error) {
	rows, err := s.pool.Query(ctx, listTenants, after, limit)
	if err != nil {
		return nil, oldest, fmt.Errorf("list tenants of feed: %w", err)
	}
	if tenants, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, oldest, fmt.Errorf("list tenants of feed: %w", err)
	}
	days, err := s.listDays(ctx)
	if len(days) > 0 {
		oldest = days[0]
	}
	return tenants, oldest, err
}

// OrderEvent is an event that reported a state of an order.
type OrderEvent struct {
	OrderID    string
	OccurredAt time.Time
}

// The condition on day prunes partitions, which the comparison of rows cannot.
const scanOrders = `SELECT day, position, starts_with(type, 'order.') AND type <> 'order.message_posted', subject_id::text, occurred_at
FROM feed WHERE tenant_id = $1 AND day >= $2 AND (day, position) > ($2, $3)
ORDER BY day, position LIMIT $4`

// OrderEvents reads the tenant's events after a position, at most limit of all types, and returns those that reported a state of
// an order. next is the last position read; end means that no event followed it.
func (s *Store) OrderEvents(
	ctx context.Context, tenantID string, after Position, limit int,
) (events []OrderEvent, next Position, end bool, err error) {
	rows, err := s.pool.Query(ctx, scanOrders, tenantID, after.Day, after.Number, limit)
	if err != nil {
		return nil, next, false, fmt.Errorf("read events of orders: %w", err)
	}
	var e OrderEvent
	var reports bool
	read := 0
	next = after
	_, err = pgx.ForEachRow(rows, []any{&next.Day, &next.Number, &reports, &e.OrderID, &e.OccurredAt}, func() error {
		if read++; reports {
			events = append(events, e)
		}
		return nil
	})
	if err != nil {
		return nil, next, false, fmt.Errorf("read events of orders: %w", err)
	}
	return events, next, read < limit, nil
}
