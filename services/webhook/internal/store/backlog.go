package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// MaxCounted is where counting a backlog ends.
const MaxCounted = 100_000

// Backlog is what waits for one key.
type Backlog struct {
	KeyID int32
	// Pending is exact below MaxCounted; MaxCounted means that many or more.
	Pending         int32
	OldestCreatedAt time.Time
	NextAttemptAt   time.Time
	PausedUntil     *time.Time
}

// The recursion skips from key to key in deliveries_due.
const selectBacklog = `
WITH RECURSIVE key AS (
  (SELECT d.key_id FROM deliveries d WHERE d.state = 'PENDING' AND d.tenant_id = $2 ORDER BY d.key_id LIMIT 1)
  UNION ALL
  SELECT n.key_id
    FROM key k
   CROSS JOIN LATERAL (
     SELECT d.key_id FROM deliveries d
      WHERE d.state = 'PENDING' AND d.tenant_id = $2 AND d.key_id > k.key_id
      ORDER BY d.key_id LIMIT 1) n
)
SELECT k.key_id, waiting.pending, waiting.oldest, waiting.next, p.until
  FROM key k
 CROSS JOIN LATERAL (
   SELECT count(*)::int AS pending, min(w.created_at) AS oldest, min(w.next_attempt_at) AS next
     FROM (SELECT d.created_at, d.next_attempt_at FROM deliveries d
            WHERE d.state = 'PENDING' AND d.tenant_id = $2 AND d.key_id = k.key_id
            ORDER BY d.next_attempt_at LIMIT $3) w) waiting
  LEFT JOIN pauses p ON p.tenant_id = $2 AND p.key_id = k.key_id AND p.until > ` + now + `
 WHERE waiting.pending > 0
 ORDER BY k.key_id`

// Backlog returns what waits for the keys of a tenant.
func (s *Store) Backlog(ctx context.Context, tenantID string) ([]Backlog, error) {
	rows, err := s.pool.Query(ctx, selectBacklog, s.nowOverride(), tenantID, MaxCounted)
	if err != nil {
		return nil, fmt.Errorf("read backlog: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Backlog])
	if err != nil {
		return nil, fmt.Errorf("read backlog: %w", err)
	}
	return list, nil
}

// Waiting is a summary of all deliveries that are not finished.
type Waiting struct {
	// Deliveries is exact below MaxCounted; MaxCounted means that many or more.
	Deliveries int64
	// Oldest is the age of the oldest of those that were counted.
	Oldest time.Duration
	// Due is the longest time that a delivery has been due, without endpoints that are paused or that have
	// a request in flight: a receiver that responds slowly or never is no problem of ours.
	Due time.Duration
}

// The count follows the order of the index and reads no finished rows. Endpoints are found as in a claim.
const selectWaiting = `
WITH RECURSIVE ` + heads + `, counted AS (
  SELECT count(*) AS deliveries, min(w.created_at) AS oldest
    FROM (SELECT d.created_at FROM deliveries d WHERE d.state = 'PENDING'
           ORDER BY d.tenant_id, d.key_id, d.next_attempt_at LIMIT $2) w
)
SELECT c.deliveries, greatest(interval '0', coalesce(` + now + ` - c.oldest, interval '0')),
       coalesce((
         SELECT max(` + now + ` - h.next_attempt_at)
           FROM head h
          WHERE h.next_attempt_at <= ` + now + `
            AND NOT EXISTS (
              SELECT 1 FROM deliveries d
               WHERE d.tenant_id = h.tenant_id AND d.key_id = h.key_id
                 AND d.lease_token IS NOT NULL AND d.next_attempt_at > ` + now + `)
            AND NOT EXISTS (
              SELECT 1 FROM pauses p
               WHERE p.tenant_id = h.tenant_id AND p.key_id = h.key_id AND p.until > ` + now + `)
       ), interval '0')
  FROM counted c`

// Waiting counts the deliveries that wait now.
func (s *Store) Waiting(ctx context.Context) (w Waiting, err error) {
	if err := s.pool.QueryRow(ctx, selectWaiting, s.nowOverride(), MaxCounted).Scan(&w.Deliveries, &w.Oldest, &w.Due); err != nil {
		return w, fmt.Errorf("count waiting deliveries: %w", err)
	}
	return w, nil
}
