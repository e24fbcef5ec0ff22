package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Position is a place in a tenant's feed. The zero value is before its first event.
type Position struct {
	// Day is the partition in which a scan begins. Within a tenant, Number alone decides the order.
	Day    time.Time
	Number int64
}

// Filter says what a key may see.
type Filter struct {
	Orders        bool
	PersonalLinks bool
	AllBrands     bool
	BrandIDs      []string
	// KeyID is the key that reads. Messages that it posted itself are hidden.
	KeyID int32
}

// Row is an event of the feed. If the filter hides it, only the position is set.
type Row struct {
	Position   Position
	Visible    bool
	ID         string
	Type       string
	OccurredAt time.Time
	Data       []byte
}

// Bounds are the ends of a tenant's feed. Both are zero for a tenant that never had an event.
type Bounds struct {
	// Last is the number of the newest event.
	Last int64
	// Dropped is the number of the newest event that retention has dropped.
	Dropped int64
}

const bounds = `SELECT t.last_position, coalesce(d.position, 0)
FROM feed_tenants t LEFT JOIN feed_dropped d USING (tenant_id)
WHERE t.tenant_id = $1`

// Bounds returns the ends of a tenant's feed. It reads two rows by primary key and no partition.
func (s *Store) Bounds(ctx context.Context, tenantID string) (Bounds, error) {
	var b Bounds
	err := s.pool.QueryRow(ctx, bounds, tenantID).Scan(&b.Last, &b.Dropped)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Bounds{}, fmt.Errorf("read bounds of feed: %w", err)
	}
	return b, nil
}

// The condition on day prunes partitions, which a comparison of rows cannot. The comparison of rows finds the first row by one
// descent of the index. Data of hidden events is not read.
const scan = `SELECT day, position, visible,
  CASE WHEN visible THEN event_id::text ELSE '' END,
  CASE WHEN visible THEN type ELSE '' END,
  occurred_at,
  CASE WHEN visible THEN data END
FROM (
  SELECT day, position, event_id, type, occurred_at, data,
    (($5 AND starts_with(type, 'order.')) OR ($6 AND starts_with(type, 'personal_link.')))
    AND ($7 OR brand_id = ANY($8::uuid[]))
    AND NOT (type = 'order.message_posted' AND origin_key_id = $9) AS visible
  FROM feed
  WHERE tenant_id = $1 AND day >= $2 AND (day, position) > ($2, $3)
  ORDER BY day, position
  LIMIT $4
) scanned
ORDER BY day, position`

// Scan reads up to limit of the tenant's events after a position, visible or not. It reads the bounds after the events: if
// Dropped is not beyond the position, nothing was dropped during the scan.
func (s *Store) Scan(ctx context.Context, tenantID string, after Position, f Filter, limit int) ([]Row, Bounds, error) {
	var (
		found []Row
		ends  Bounds
	)
	b := &pgx.Batch{}
	b.Queue(scan, tenantID, after.Day, after.Number, limit, f.Orders, f.PersonalLinks, f.AllBrands,
		notNil(f.BrandIDs), f.KeyID).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, scanRow)
		return err
	})
	b.Queue(bounds, tenantID).QueryRow(func(row pgx.Row) error {
		return row.Scan(&ends.Last, &ends.Dropped)
	})
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, Bounds{}, fmt.Errorf("scan feed: %w", err)
	}
	return found, ends, nil
}

func scanRow(row pgx.CollectableRow) (Row, error) {
	var r Row
	err := row.Scan(&r.Position.Day, &r.Position.Number, &r.Visible, &r.ID, &r.Type, &r.OccurredAt, &r.Data)
	return r, err
}

// notNil keeps an empty value from becoming NULL.
func notNil[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
