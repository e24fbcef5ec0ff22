package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// A leased row is being sent: its sender records the result. A locked row is just being leased or dropped.
const dropRows = `
WITH chosen AS MATERIALIZED (
  SELECT c.tenant_id, c.event_id, c.key_id, c.next_attempt_at
    FROM deliveries c
   WHERE c.tenant_id = $2 AND c.key_id = $3 AND c.state = 'PENDING' AND c.next_attempt_at >= $4
     AND c.lease_token IS NULL AND c.created_at <= $5 AND (c.attempts > 0 OR c.next_attempt_at <= $5)
   ORDER BY c.next_attempt_at
   LIMIT $6
   FOR UPDATE SKIP LOCKED
), dropped AS (
  UPDATE deliveries d
     SET state = 'DROPPED', next_attempt_at = NULL, finished_at = ` + now + `
    FROM chosen c
   WHERE d.tenant_id = c.tenant_id AND d.event_id = c.event_id AND d.key_id = c.key_id
)
SELECT count(*), coalesce(max(next_attempt_at), $4) FROM chosen`

// Drop finishes up to limit pending rows of an endpoint that is gone, those that are due first, and returns how many. It leaves
// out rows that are leased, and those stored or resent after storedUntil: the endpoint may have been set again since. The next
// call of a series begins at the returned time, because the index entries of dropped rows stay while an old snapshot is open.
func (s *Store) Drop(
	ctx context.Context, e Endpoint, storedUntil, since time.Time, limit int,
) (dropped int, last time.Time, err error) {
	err = postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(dropRows, s.nowOverride(), e.TenantID, e.KeyID, since, storedUntil, limit).
			QueryRow(func(row pgx.Row) error { return row.Scan(&dropped, &last) })
	})
	if err != nil {
		return 0, since, fmt.Errorf("drop deliveries: %w", err)
	}
	return dropped, last, nil
}
