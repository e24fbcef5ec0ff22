package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Position is a place in a tenant's feed. The zero value is before its first event.
type Position struct {
	// Epoch in which the number was used.
	Epoch int64
	// Day is the partition in which a scan begins; it may be earlier. Within a tenant, Number alone decides the order.
	Day    time.Time
	Number int64
}

// Filter says what a key may see.
type Filter struct {
	// Everything is for a reader that is no key.
	Everything    bool
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

// Bounds are the ends of a tenant's feed, and the epoch in which they were read.
type Bounds struct {
	// Last is the number of the newest event; zero for a tenant that never had one.
	Last int64
	// Dropped is the number of the newest event that retention has dropped.
	Dropped int64
	// Epoch is the current one.
	Epoch int64
	// Survived is the last number of the requested epoch that was not lost since then; negative if the epoch is unknown. It may be an
	// epoch of the cell from which the tenant has moved.
	Survived int64
}

// Holds reports whether the events up to a position are still those that they were when the position was read. Bounds must have
// been read for its epoch.
func (b Bounds) Holds(p Position) bool {
	return p.Number == 0 || p.Number <= b.Survived && (p.Epoch != b.Epoch || p.Number <= b.Last)
}

var bounds = `SELECT
  coalesce((` + lastOf("$1", "last_position") + `), 0),
  coalesce((SELECT position FROM feed_dropped WHERE tenant_id = $1), 0),
  (SELECT id FROM feed_epochs ORDER BY number DESC LIMIT 1),
  greatest(-1, (SELECT coalesce(min(later.survived), 9223372036854775807)
     FROM feed_epochs e LEFT JOIN feed_epochs later ON later.number > e.number
    WHERE e.id = $2 GROUP BY e.id),
    (SELECT least(m.survived, (SELECT min(later.survived) FROM feed_epochs later WHERE later.number > m.before_epoch))
       FROM feed_moved_epochs m WHERE m.tenant_id = $1 AND m.id = $2))`

// Bounds returns the ends of a tenant's feed for a position of an epoch. It reads single rows by primary key and no partition.
func (s *Store) Bounds(ctx context.Context, tenantID string, epoch int64) (Bounds, error) {
	var b Bounds
	if err := s.pool.QueryRow(ctx, bounds, tenantID, epoch).Scan(b.columns()...); err != nil {
		return Bounds{}, fmt.Errorf("read bounds of feed: %w", err)
	}
	return b, nil
}

// endDay is the day of a tenant's newest event. The next one is not inserted on an earlier day, whatever the clocks say. Without an
// event, the same holds for the first day that a writer is at, and for yesterday, $2, if the clock is not ahead.
const endDay = `SELECT coalesce(
  (SELECT day FROM feed WHERE tenant_id = $1 ORDER BY day DESC, position DESC LIMIT 1),
  least($2::date, (SELECT min(last_day) FROM feed_writers)))`

// End returns the position after a tenant's newest event.
func (s *Store) End(ctx context.Context, tenantID string) (Position, error) {
	now, err := s.now(ctx)
	if err != nil {
		return Position{}, err
	}
	var day time.Time // Read first: an event that is inserted meanwhile is on the same day or later.
	if err := s.pool.QueryRow(ctx, endDay, tenantID, Day(now).AddDate(0, 0, -1)).Scan(&day); err != nil {
		return Position{}, fmt.Errorf("read end of feed: %w", err)
	}
	b, err := s.Bounds(ctx, tenantID, 0)
	return Position{Epoch: b.Epoch, Day: day, Number: b.Last}, err
}

func (b *Bounds) columns() []any { return []any{&b.Last, &b.Dropped, &b.Epoch, &b.Survived} }

// The condition on day prunes partitions, which a comparison of rows cannot. The comparison of rows finds the first row by one
// descent of the index. The condition on position matters only if the day is earlier than that of the position. Data of hidden
// events is not read. If the tenant's last event is not after the position, no partition is read.
var scan = `SELECT day, position, visible,
  CASE WHEN visible THEN event_id::text ELSE '' END,
  CASE WHEN visible THEN type ELSE '' END,
  occurred_at,
  CASE WHEN visible THEN data END
FROM (
  SELECT day, position, event_id, type, occurred_at, data,
    $10 OR (($5 AND starts_with(type, 'order.')) OR ($6 AND starts_with(type, 'personal_link.')))
    AND ($7 OR brand_id = ANY($8::uuid[]))
    AND NOT (type = 'order.message_posted' AND origin_key_id = $9) AS visible
  FROM feed
  WHERE tenant_id = $1 AND day >= $2 AND (day, position) > ($2, $3) AND position > $3
    AND (` + lastOf("$1", "last_position") + `) > $3
  ORDER BY day, position
  LIMIT $4
) scanned
ORDER BY day, position`

// Scan reads up to limit of the tenant's events after a position, visible or not. It reads the bounds after the events: if
// Dropped is not beyond the position, nothing was dropped during the scan. The events belong to the epoch of the bounds, or to an
// earlier one that they survived.
func (s *Store) Scan(ctx context.Context, tenantID string, after Position, f Filter, limit int) ([]Row, Bounds, error) {
	var (
		found []Row
		ends  Bounds
	)
	b := &pgx.Batch{}
	b.Queue(scan, tenantID, after.Day, after.Number, limit, f.Orders, f.PersonalLinks, f.AllBrands,
		notNil(f.BrandIDs), f.KeyID, f.Everything).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, scanRow)
		return err
	})
	b.Queue(bounds, tenantID, after.Epoch).QueryRow(func(row pgx.Row) error { return row.Scan(ends.columns()...) })
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, Bounds{}, fmt.Errorf("scan feed: %w", err)
	}
	for i := range found {
		found[i].Position.Epoch = ends.Epoch
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
