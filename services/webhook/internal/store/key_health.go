package store

import (
	"context"
	"fmt"
	"time"
)

// MaxCountedOfKey is how many pending deliveries the health of a key counts at most.
const MaxCountedOfKey = maxScan

// KeyHealth is what the log says of an endpoint.
type KeyHealth struct {
	// LastSuccess is the start of the last attempt that was accepted, and FailingSince that of the first failure after it. Nil:
	// there was none.
	LastSuccess, FailingSince *time.Time
	// LastError is the problem of the last attempt that failed, or nil.
	LastError *string
	// Pending is exact below MaxCountedOfKey; MaxCountedOfKey means that many or more.
	Pending         int32
	OldestPendingAt *time.Time
	// Stalled means that an event has waited for its first attempt for more than a minute, in which none was accepted.
	Stalled bool
	// Untried is an event that waits for its first attempt, with its body; empty if there is none.
	Untried     string
	UntriedBody []byte
}

// stalledAfter is much longer than a first attempt takes, and than a sender that has crashed keeps its leases.
const stalledAfter = `interval '1 minute'`

// The index attempts_of_key has (problem IS NULL) as a column, so the conditions compare it.
const selectKeyHealth = `
WITH success AS MATERIALIZED (
  SELECT max(a.started_at) AS at FROM attempts a WHERE a.tenant_id = $2 AND a.key_id = $3 AND (a.problem IS NULL) = true
), waiting AS MATERIALIZED (
  SELECT d.event_id, d.created_at, d.attempts
    FROM deliveries d
   WHERE d.state = 'PENDING' AND d.tenant_id = $2 AND d.key_id = $3
   ORDER BY d.next_attempt_at
   LIMIT $4
), untried AS MATERIALIZED (
  SELECT event_id FROM waiting WHERE attempts = 0 ORDER BY created_at LIMIT 1
)
SELECT (SELECT at FROM success),
       (SELECT min(a.started_at) FROM attempts a
         WHERE a.tenant_id = $2 AND a.key_id = $3 AND (a.problem IS NULL) = false
           AND a.started_at > coalesce((SELECT at FROM success), '-infinity')),
       (SELECT a.problem FROM attempts a
         WHERE a.tenant_id = $2 AND a.key_id = $3 AND (a.problem IS NULL) = false ORDER BY a.started_at DESC LIMIT 1),
       (SELECT count(*)::int FROM waiting), (SELECT min(created_at) FROM waiting),
       EXISTS (SELECT FROM waiting WHERE attempts = 0 AND created_at < ` + now + ` - ` + stalledAfter + `)
         AND coalesce((SELECT at FROM success) < ` + now + ` - ` + stalledAfter + `, true),
       coalesce(e.event_id::text, ''), coalesce(e.body, '')
  FROM (SELECT) one
  LEFT JOIN untried u ON true
  LEFT JOIN events e ON e.tenant_id = $2 AND e.event_id = u.event_id`

// KeyHealth reads the health of an endpoint.
func (s *Store) KeyHealth(ctx context.Context, e Endpoint) (h KeyHealth, err error) {
	err = s.pool.QueryRow(ctx, selectKeyHealth, s.nowOverride(), e.TenantID, e.KeyID, MaxCountedOfKey).Scan(&h.LastSuccess,
		&h.FailingSince, &h.LastError, &h.Pending, &h.OldestPendingAt, &h.Stalled, &h.Untried, &h.UntriedBody)
	if err != nil {
		return KeyHealth{}, fmt.Errorf("read health of key: %w", err)
	}
	return h, nil
}
