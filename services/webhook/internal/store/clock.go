package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/partnergifting/platform/pkg/postgres"
)

// While the database's clock is ahead, due times and pauses are stored that lie far in the future once the clock is right again.
// Real waits are shorter: a lease or 30 seconds before the first attempt, 13.2 hours after an attempt, 15 seconds for a pause.
const (
	endLongWaits = `
UPDATE deliveries d SET next_attempt_at = ` + now + `
  FROM (
    SELECT l.tenant_id, l.event_id, l.key_id
      FROM deliveries l
     WHERE l.state = 'PENDING' AND l.next_attempt_at > ` + now + ` + interval '1 hour'
       AND (l.attempts = 0 OR l.next_attempt_at > ` + now + ` + interval '14 hours')
     LIMIT $2
     FOR UPDATE SKIP LOCKED) long
 WHERE d.tenant_id = long.tenant_id AND d.event_id = long.event_id AND d.key_id = long.key_id`

	endLongPauses = `DELETE FROM pauses WHERE until > ` + now + ` + interval '1 minute'`
)

// EndLongWaits makes up to limit deliveries due that wait only because the database's clock was ahead, and returns how many. It
// also ends all such pauses.
func (s *Store) EndLongWaits(ctx context.Context, limit int) (ended int, err error) {
	at := s.nowOverride()
	err = postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(endLongPauses, at)
		b.Queue(endLongWaits, at, limit).Exec(func(done pgconn.CommandTag) error {
			ended = int(done.RowsAffected())
			return nil
		})
	})
	if err != nil {
		return 0, fmt.Errorf("end long waits: %w", err)
	}
	return ended, nil
}
