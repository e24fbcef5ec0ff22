package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
)

const (
	firstAndLastDay = `SELECT min(day), max(day) FROM feed WHERE tenant_id = $1`

	// The primary key has all that this reads.
	endOfStep = `SELECT max(position) FROM (
  SELECT position FROM feed WHERE tenant_id = $1 AND day = $2 AND position > $3 ORDER BY position LIMIT $4) step`

	lockEvents = `SELECT position, data FROM feed
WHERE tenant_id = $1 AND day = $2 AND position > $3 AND position <= $4 AND subject_id = ANY($5::uuid[])
ORDER BY position FOR NO KEY UPDATE`

	replaceData = `UPDATE feed f SET data = r.data
FROM unnest($3::bigint[], $4::bytea[]) AS r (position, data)
WHERE f.tenant_id = $1 AND f.day = $2 AND f.position = r.position AND f.data <> r.data`
)

// eraseStep is how many events a statement reads.
const eraseStep = 20_000

// EraseEvents erases what the events of orders and links say about a person. It reads all events of the tenant, those of one day
// in steps, so that no statement is long. Call it when all events of the records are stored.
func (s *Store) EraseEvents(ctx context.Context, tenantID string, subjectIDs []string) error {
	var first, last *time.Time
	if err := s.pool.QueryRow(ctx, firstAndLastDay, tenantID).Scan(&first, &last); err != nil {
		return fmt.Errorf("erase events: %w", err)
	}
	if first == nil {
		return nil
	}
	for day := *first; !day.After(*last); day = day.AddDate(0, 0, 1) {
		if err := s.eraseEventsOf(ctx, tenantID, day, postgres.UUIDs(subjectIDs)); err != nil {
			return fmt.Errorf("erase events of %s: %w", day.Format(time.DateOnly), err)
		}
	}
	return nil
}

func (s *Store) eraseEventsOf(ctx context.Context, tenantID string, day time.Time, subjectIDs postgres.UUIDs) error {
	for after := int64(0); ; {
		var last *int64
		if err := s.pool.QueryRow(ctx, endOfStep, tenantID, day, after, eraseStep).Scan(&last); err != nil || last == nil {
			return err
		}
		if err := s.eraseEventsIn(ctx, tenantID, day, after, *last, subjectIDs); err != nil {
			return err
		}
		after = *last
	}
}

// eraseEventsIn erases events of a day at positions above after, up to last.
func (s *Store) eraseEventsIn(
	ctx context.Context, tenantID string, day time.Time, after, last int64, subjectIDs postgres.UUIDs,
) error {
	var positions []int64
	var data [][]byte
	return postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) {
			positions, data = nil, nil
			b.Queue(lockEvents, tenantID, day, after, last, subjectIDs).Query(func(rows pgx.Rows) error {
				var position int64
				var stored []byte
				_, err := pgx.ForEachRow(rows, []any{&position, &stored}, func() error {
					erased, err := seal.EraseEvent(stored)
					positions, data = append(positions, position), append(data, erased)
					return err
				})
				return err
			})
		},
		func() (func(b *pgx.Batch), error) {
			return func(b *pgx.Batch) {
				if len(positions) > 0 {
					b.Queue(replaceData, tenantID, day, positions, data)
				}
			}, nil
		})
}

// Sealed are the sealed members of events in the feed, for the check of the ring.
func Sealed() seal.SealedValues { return seal.StoredEvents("feed", "data") }

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, events *seal.EventReader) tenants.Database {
	return tenants.Database{
		Pool: pool, Events: events,
		Tables: []tenants.Table{
			{Name: "feed", Key: []string{"day date", "position bigint"}, Bytes: []string{"data"}, Events: true},
			{Name: "feed_tenants", Key: []string{"tenant_id uuid"}, Hidden: true},
			{Name: "feed_dropped", Key: []string{"tenant_id uuid"}, Hidden: true},
			{Name: "feed_moved_epochs", Key: []string{"id bigint"}, Hidden: true},
		},
	}
}
