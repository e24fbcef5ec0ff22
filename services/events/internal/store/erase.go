package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/eventseal"
	"github.com/partnergifting/platform/pkg/postgres"
)

const (
	lockEvents = `SELECT day, position, data FROM feed
WHERE tenant_id = $1 AND subject_id = ANY($2::uuid[]) ORDER BY day, position FOR NO KEY UPDATE`

	replaceData = `UPDATE feed f SET data = r.data
FROM unnest($2::date[], $3::bigint[], $4::bytea[]) AS r (day, position, data)
WHERE f.tenant_id = $1 AND f.day = r.day AND f.position = r.position AND f.data <> r.data`
)

// EraseEvents erases what the events of orders and links say about a person. It reads all events of the tenant. Call it when all
// events of the records are stored.
func (s *Store) EraseEvents(ctx context.Context, tenantID string, subjectIDs []string) error {
	var days []time.Time
	var positions []int64
	var data [][]byte
	err := postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) {
			days, positions, data = nil, nil, nil
			b.Queue(lockEvents, tenantID, postgres.UUIDs(subjectIDs)).Query(func(rows pgx.Rows) error {
				var day time.Time
				var position int64
				var stored []byte
				_, err := pgx.ForEachRow(rows, []any{&day, &position, &stored}, func() error {
					erased, err := eventseal.Erase(stored)
					days, positions, data = append(days, day), append(positions, position), append(data, erased)
					return err
				})
				return err
			})
		},
		func() (func(b *pgx.Batch), error) {
			return func(b *pgx.Batch) { b.Queue(replaceData, tenantID, days, positions, data) }, nil
		})
	if err != nil {
		return fmt.Errorf("erase events: %w", err)
	}
	return nil
}
