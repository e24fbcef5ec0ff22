package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// Attempt is one line of the log.
type Attempt struct {
	StartedAt    time.Time
	Duration     time.Duration
	Outcome      rules.Outcome
	ResponseBody []byte
}

// ErrLeaseLost means that the row was claimed again after the lease had ended: whoever holds it
// now records what becomes of it.
var ErrLeaseLost = errors.New("the delivery's lease was lost")

const recordAttempt = `
WITH done AS (
  UPDATE deliveries
     SET state = $5, attempts = attempts + 1, next_attempt_at = $6, lease_token = NULL, finished_at = $7
   WHERE tenant_id = $1 AND event_id = $2 AND key_id = $3 AND lease_token = $4
  RETURNING tenant_id, event_id, key_id, attempts
)
INSERT INTO attempts (tenant_id, event_id, key_id, number, started_at, duration_ms, response_status, problem, response_body)
SELECT done.tenant_id, done.event_id, done.key_id, done.attempts,
       $8::timestamptz, $9::int, $10::int, $11::text, $12::bytea
  FROM done`

const recordUncounted = `
UPDATE deliveries
   SET state = $5, next_attempt_at = $6, lease_token = NULL, finished_at = $7
 WHERE tenant_id = $1 AND event_id = $2 AND key_id = $3 AND lease_token = $4`

// Record commits what becomes of a claimed row, with a line in the log when the attempt counted.
func (s *Store) Record(ctx context.Context, d Delivery, v rules.Verdict, a Attempt, now time.Time) error {
	args := []any{d.TenantID, d.EventID, d.KeyID, d.Token, string(v.State), nil, nil}
	if v.State == rules.Pending {
		args[5] = v.Next
	} else {
		args[6] = now
	}
	statement := recordUncounted
	if v.Counted {
		statement = recordAttempt
		args = append(args, a.StartedAt, a.Duration.Milliseconds(),
			nullable(a.Outcome.Status), nullable(a.Outcome.Problem), present(a.ResponseBody))
	}
	tag, err := s.pool.Exec(ctx, statement, args...)
	if err != nil {
		return fmt.Errorf("record delivery: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrLeaseLost
	}
	return nil
}

func nullable[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

const releaseRows = `
UPDATE deliveries
   SET next_attempt_at = $5, lease_token = NULL
  FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS r (tenant_id, event_id, key_id)
 WHERE deliveries.tenant_id = r.tenant_id AND deliveries.event_id = r.event_id
   AND deliveries.key_id = r.key_id AND deliveries.lease_token = ANY ($4::uuid[])`

const insertPause = `
INSERT INTO pauses (tenant_id, key_id, until)
SELECT p.tenant_id, p.key_id, $3::timestamptz FROM unnest($1::uuid[], $2::int[]) AS p (tenant_id, key_id)
ON CONFLICT (tenant_id, key_id) DO UPDATE SET until = excluded.until`

// Release gives claimed rows back unsent: they are due at the given time.
func (s *Store) Release(ctx context.Context, deliveries []Delivery, due time.Time) error {
	if len(deliveries) == 0 {
		return nil
	}
	var (
		tenants, events, tokens []string
		keys                    []int32
	)
	for _, d := range deliveries {
		tenants, events = append(tenants, d.TenantID), append(events, d.EventID)
		keys, tokens = append(keys, d.KeyID), append(tokens, d.Token)
	}
	if _, err := s.pool.Exec(ctx, releaseRows, tenants, events, keys, tokens, due); err != nil {
		return fmt.Errorf("release deliveries: %w", err)
	}
	return nil
}

// Pause keeps the endpoints from being claimed until the given time.
func (s *Store) Pause(ctx context.Context, endpoints []Endpoint, until time.Time) error {
	if len(endpoints) == 0 {
		return nil
	}
	var (
		tenants []string
		keys    []int32
	)
	for _, e := range endpoints {
		tenants, keys = append(tenants, e.TenantID), append(keys, e.KeyID)
	}
	if _, err := s.pool.Exec(ctx, insertPause, tenants, keys, until); err != nil {
		return fmt.Errorf("pause endpoints: %w", err)
	}
	return nil
}
