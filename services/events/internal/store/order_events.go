package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
)

const listTenants = `SELECT tenant_id::text FROM feed_tenants
WHERE tenant_id > $1 ORDER BY tenant_id LIMIT $2`

// Tenants reads up to limit of the tenants that have a feed, by id.
func (s *Store) Tenants(ctx context.Context, after string, limit int) ([]string, error) {
	rows, err := s.pool.Query(ctx, listTenants, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list tenants of feed: %w", err)
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list tenants of feed: %w", err)
	}
	return tenants, nil
}

// OrderEvent is an event that reported a state of an order.
type OrderEvent struct {
	Day        time.Time
	Number     int64
	OrderID    string
	OccurredAt time.Time
	// Data is read only if requested.
	Data []byte
}

// OrderEvents is a page of a tenant's events, with the state of the feed when it was read.
type OrderEvents struct {
	Events []OrderEvent
	// Next is the position of the last event read, in the epoch of the first page.
	Next Position
	// End means that no event followed.
	End bool
	// Epoch is the current one.
	Epoch int64
	// Stored is how far each partition has been stored.
	Stored map[int]kafka.Stored
}

const (
	// The condition on day prunes partitions, which the comparison of rows cannot.
	scanOrders = `SELECT day, position, starts_with(type, 'order.') AND type <> 'order.message_posted', subject_id::text, occurred_at,
  CASE WHEN $5 THEN data END
FROM feed WHERE tenant_id = $1 AND day >= $2 AND (day, position) > ($2, $3)
ORDER BY day, position LIMIT $4`

	currentEpoch = `SELECT id FROM feed_epochs ORDER BY number DESC LIMIT 1`
)

// OrderEventsFrom says where a page of events begins.
type OrderEventsFrom struct {
	TenantID string
	// After is a position; nil: Day, in the current epoch.
	After *Position
	Day   time.Time
	// Limit is how many events of all types are read at most.
	Limit int
	// WithData reads the data too.
	WithData bool
}

// OrderEvents reads the tenant's events and returns those that reported a state of an order.
func (s *Store) OrderEvents(ctx context.Context, from OrderEventsFrom) (page OrderEvents, err error) {
	// One snapshot: otherwise the offsets could be those before the feed went back to an earlier state, and the events those after.
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = postgres.InTxWith(ctx, s.pool, snapshot, func(tx pgx.Tx) error {
		page = OrderEvents{Next: Position{Day: from.Day}}
		if from.After != nil {
			page.Next = *from.After
		}
		b := &pgx.Batch{}
		b.Queue(currentEpoch).QueryRow(func(row pgx.Row) error { return row.Scan(&page.Epoch) })
		b.Queue(storedOffsets).Query(func(rows pgx.Rows) (err error) {
			page.Stored, err = collectStored(rows)
			return err
		})
		b.Queue(scanOrders, from.TenantID, page.Next.Day, page.Next.Number, from.Limit, from.WithData).Query(func(rows pgx.Rows) error {
			read, err := page.collect(rows)
			page.End = read < from.Limit
			return err
		})
		return tx.SendBatch(ctx, b).Close()
	})
	if from.After == nil {
		page.Next.Epoch = page.Epoch
	}
	if err != nil {
		return OrderEvents{}, fmt.Errorf("read events of orders: %w", err)
	}
	return page, nil
}

func (p *OrderEvents) collect(rows pgx.Rows) (read int, err error) {
	var e OrderEvent
	var reports bool
	_, err = pgx.ForEachRow(rows, []any{&p.Next.Day, &p.Next.Number, &reports, &e.OrderID, &e.OccurredAt, &e.Data}, func() error {
		if read++; reports {
			e.Day, e.Number = p.Next.Day, p.Next.Number
			p.Events = append(p.Events, e)
		}
		return nil
	})
	return read, err
}
