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
	// StartedAt is by the sender's clock, like the time in the signature.
	StartedAt    time.Time
	Duration     time.Duration
	Outcome      rules.Outcome
	ResponseBody []byte
}

// ErrLeaseLost means that the row was claimed again after the lease had ended: whoever holds it
// now records what becomes of it.
var ErrLeaseLost = errors.New("the delivery's lease was lost")

// A final state has no next attempt and the time at which it was reached, a pending one the reverse.
const recordOutcome = `
  UPDATE deliveries
     SET state = $6, attempts = attempts + $7, lease_token = NULL,
         next_attempt_at = CASE WHEN $6 = 'PENDING' THEN ` + now + ` + $8::interval END,
         finished_at = CASE WHEN $6 <> 'PENDING' THEN ` + now + ` END
   WHERE tenant_id = $2 AND event_id = $3 AND key_id = $4 AND lease_token = $5`

const recordAttempt = `
WITH done AS (` + recordOutcome + `
  RETURNING tenant_id, event_id, key_id, attempts
)
INSERT INTO attempts (tenant_id, event_id, key_id, number, started_at, duration_ms, response_status, problem, response_body)
SELECT done.tenant_id, done.event_id, done.key_id, done.attempts,
       $9::timestamptz, $10::int, $11::int, $12::text, $13::bytea
  FROM done`

// Record commits what becomes of a claimed row, with a line in the log when the attempt counted.
func (s *Store) Record(ctx context.Context, d Delivery, v rules.Verdict, a Attempt) error {
	counted, statement := 0, recordOutcome
	var line []any
	if v.Counted {
		counted, statement = 1, recordAttempt
		line = []any{
			a.StartedAt, a.Duration.Milliseconds(),
			nullable(a.Outcome.Status), nullable(a.Outcome.Problem), present(a.ResponseBody),
		}
	}
	args := []any{s.instead(), d.TenantID, d.EventID, d.KeyID, d.Token, string(v.State), counted, v.Wait}
	tag, err := s.pool.Exec(ctx, statement, append(args, line...)...)
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
   SET next_attempt_at = ` + now + ` + $6::interval, lease_token = NULL
  FROM unnest($2::uuid[], $3::uuid[], $4::int[]) AS r (tenant_id, event_id, key_id)
 WHERE deliveries.tenant_id = r.tenant_id AND deliveries.event_id = r.event_id
   AND deliveries.key_id = r.key_id AND deliveries.lease_token = ANY ($5::uuid[])`

const insertPause = `
INSERT INTO pauses (tenant_id, key_id, until)
SELECT p.tenant_id, p.key_id, ` + now + ` + $4::interval FROM unnest($2::uuid[], $3::int[]) AS p (tenant_id, key_id)
ON CONFLICT (tenant_id, key_id) DO UPDATE SET until = excluded.until`

// Release gives claimed rows back unsent: they are due after the given time.
func (s *Store) Release(ctx context.Context, deliveries []Delivery, wait time.Duration) error {
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
	if _, err := s.pool.Exec(ctx, releaseRows, s.instead(), tenants, events, keys, tokens, wait); err != nil {
		return fmt.Errorf("release deliveries: %w", err)
	}
	return nil
}

// Pause keeps the endpoints from being claimed for the given time.
func (s *Store) Pause(ctx context.Context, endpoints []Endpoint, length time.Duration) error {
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
	if _, err := s.pool.Exec(ctx, insertPause, s.instead(), tenants, keys, length); err != nil {
		return fmt.Errorf("pause endpoints: %w", err)
	}
	return nil
}
