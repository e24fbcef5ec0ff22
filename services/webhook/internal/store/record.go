package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// Attempt is one line of the log.
type Attempt struct {
	// StartedAt is a time of the sender's clock, like the time in the signature.
	StartedAt    time.Time
	Duration     time.Duration
	Outcome      rules.Outcome
	ResponseBody []byte
}

// Result of sending a claimed delivery.
type Result struct {
	Delivery Delivery
	Verdict  rules.Verdict
	// Attempt is logged if it counted.
	Attempt Attempt
}

// A row in a final state has finished_at and no next_attempt_at. A pending row has next_attempt_at and no finished_at.
//
// The token is compared by IS NOT DISTINCT FROM, because "=" would let the server look for the row among all leases of the
// endpoint in deliveries_leased_by.
//
// The commit does not wait for the disk. If a crash of the server loses it, the row is leased as before, and is sent again when
// its lease ends, as after a crash of the sender before it records. The log, the state and the health of the endpoint are then
// those of the repetition. What is committed later and waits for the disk, such as a resend, takes the result with it: the
// write-ahead log has one order.
const recordResults = `
WITH done AS (
  UPDATE deliveries d
     SET state = r.state, attempts = d.attempts + r.counted::int, lease_token = NULL, leased_by = 0,
         next_attempt_at = CASE WHEN r.state = 'PENDING' THEN ` + now + ` + r.wait_us * interval '1 microsecond' END,
         finished_at = CASE WHEN r.state <> 'PENDING' THEN ` + now + ` END
    FROM unnest($2::uuid[], $3::uuid[], $4::int[], $5::uuid[], $6::text[], $7::bool[], $8::bigint[],
                $9::timestamptz[], $10::int[], $11::int[], $12::text[], $13::bytea[])
           WITH ORDINALITY AS r (tenant_id, event_id, key_id, token, state, counted, wait_us,
                                 started_at, duration_ms, response_status, problem, response_body, n)
   WHERE d.tenant_id = r.tenant_id AND d.event_id = r.event_id AND d.key_id = r.key_id
     AND d.lease_token IS NOT DISTINCT FROM r.token
  RETURNING d.tenant_id, d.event_id, d.key_id, d.attempts_before + d.attempts AS number,
            r.counted, r.started_at, r.duration_ms, r.response_status, r.problem, r.response_body, r.n
), logged AS (
  INSERT INTO attempts (tenant_id, event_id, key_id, number, started_at, duration_ms, response_status, problem, response_body)
  SELECT tenant_id, event_id, key_id, number, started_at, duration_ms, response_status, problem, response_body
    FROM done
   WHERE counted
)
SELECT n, ` + asyncCommit + ` FROM done`

// Record stores the results of claimed rows, and logs those attempts that counted. It returns for each result whether it was
// recorded. A result is not recorded if its lease was lost: the row was claimed again after the lease had ended, and that claim
// records the result.
func (s *Store) Record(ctx context.Context, results []Result) (recorded []bool, err error) {
	tenants, events, keys := idColumns(postgres.Column(results, func(r Result) DeliveryID { return r.Delivery.DeliveryID }))
	rows, err := s.pool.Query(ctx, recordResults, s.nowOverride(), tenants, events, keys,
		postgres.UUIDColumn(results, func(r Result) string { return r.Delivery.Token }),
		postgres.Column(results, func(r Result) string { return string(r.Verdict.State) }),
		postgres.Column(results, func(r Result) bool { return r.Verdict.Counted }),
		postgres.Column(results, func(r Result) int64 { return r.Verdict.Wait.Microseconds() }),
		postgres.Column(results, func(r Result) time.Time { return r.Attempt.StartedAt }),
		postgres.Column(results, func(r Result) int64 { return r.Attempt.Duration.Milliseconds() }),
		postgres.Column(results, func(r Result) *int { return postgres.Nullable(r.Attempt.Outcome.Status) }),
		postgres.Column(results, func(r Result) *string { return postgres.Nullable(r.Attempt.Outcome.Problem) }),
		postgres.Column(results, func(r Result) []byte { return notNil(r.Attempt.ResponseBody) }))
	if err != nil {
		return nil, fmt.Errorf("record deliveries: %w", err)
	}
	recorded = make([]bool, len(results))
	var n int
	_, err = pgx.ForEachRow(rows, []any{&n, nil}, func() error {
		recorded[n-1] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("record deliveries: %w", err)
	}
	return recorded, nil
}

const releaseRows = `
UPDATE deliveries
   SET next_attempt_at = ` + now + ` + $6::interval, lease_token = NULL, leased_by = 0
  FROM unnest($2::uuid[], $3::uuid[], $4::int[], $5::uuid[]) AS r (tenant_id, event_id, key_id, token)
 WHERE deliveries.tenant_id = r.tenant_id AND deliveries.event_id = r.event_id
   AND deliveries.key_id = r.key_id AND deliveries.lease_token IS NOT DISTINCT FROM r.token`

const insertPause = `
INSERT INTO pauses (tenant_id, key_id, until)
SELECT p.tenant_id, p.key_id, ` + now + ` + $4::interval FROM unnest($2::uuid[], $3::int[]) AS p (tenant_id, key_id)
ON CONFLICT (tenant_id, key_id) DO UPDATE SET until = excluded.until`

// Release ends the leases of rows that were not sent. They are due again after the given time.
func (s *Store) Release(ctx context.Context, deliveries []Delivery, wait time.Duration) error {
	if len(deliveries) == 0 {
		return nil
	}
	tenants, events, keys := idColumns(postgres.Column(deliveries, func(d Delivery) DeliveryID { return d.DeliveryID }))
	tokens := postgres.UUIDColumn(deliveries, func(d Delivery) string { return d.Token })
	if _, err := s.pool.Exec(ctx, releaseRows, s.nowOverride(), tenants, events, keys, tokens, wait); err != nil {
		return fmt.Errorf("release deliveries: %w", err)
	}
	return nil
}

// Pause keeps the endpoints from being claimed for the given time.
func (s *Store) Pause(ctx context.Context, endpoints []Endpoint, length time.Duration) error {
	if len(endpoints) == 0 {
		return nil
	}
	tenants, keys := endpointColumns(endpoints)
	if _, err := s.pool.Exec(ctx, insertPause, s.nowOverride(), tenants, keys, length); err != nil {
		return fmt.Errorf("pause endpoints: %w", err)
	}
	return nil
}
