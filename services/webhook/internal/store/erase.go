package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
)

const (
	lockEvents = `SELECT event_id::text, body FROM events
WHERE tenant_id = $1 AND subject_id = ANY($2::uuid[]) ORDER BY event_id FOR NO KEY UPDATE`

	replaceBodies = `UPDATE events e SET body = r.body
FROM unnest($2::uuid[], $3::bytea[]) AS r (event_id, body) WHERE e.tenant_id = $1 AND e.event_id = r.event_id AND e.body <> r.body`

	// A claim sends the event as it was when the claim began, so the locks of claims are taken.
	waitForClaims = `SELECT pg_advisory_xact_lock($3::int, key_id) FROM (
  SELECT DISTINCT key_id FROM deliveries WHERE tenant_id = $1 AND event_id = ANY($2::uuid[]) ORDER BY key_id) k`

	// A resend reads what receivers responded into its stored answer, so the locks of resends are taken. A delivery that is being
	// sent is not locked: it cannot be resent, and recording its result does not wait.
	waitForResends = `SELECT FROM deliveries
WHERE tenant_id = $1 AND event_id = ANY($2::uuid[])
  AND (lease_token IS NULL OR next_attempt_at <= coalesce($3::timestamptz, now()))
ORDER BY event_id, key_id FOR NO KEY UPDATE`

	countSending = `SELECT count(*) FILTER (WHERE lease_token IS NOT NULL AND next_attempt_at > coalesce($3::timestamptz, now())),
       coalesce(array_agg(DISTINCT key_id), '{}')
FROM deliveries WHERE tenant_id = $1 AND event_id = ANY($2::uuid[])`

	// What a receiver responded may repeat the event. A response is logged in the statement that ends its lease.
	eraseResponses = `UPDATE attempts SET response_body = $3
WHERE tenant_id = $1 AND event_id = ANY($2::uuid[]) AND response_body NOT IN ('', $3)`
)

// Erased is what EraseEvents has erased.
type Erased struct {
	// Sending is how many deliveries of the events are being sent as they were: until it is zero, what their receivers respond is not
	// erased either.
	Sending int
	// EventIDs are the events, and KeyIDs the keys that they are delivered to.
	EventIDs []string
	KeyIDs   []int32
}

// EraseEvents erases what the events of orders and links say about a person. Call it when all events of the records are stored.
func (s *Store) EraseEvents(ctx context.Context, tenantID string, subjectIDs []string) (erased Erased, err error) {
	var ids postgres.UUIDs
	var bodies [][]byte
	err = postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) {
			ids, bodies = nil, nil
			b.Queue(lockEvents, tenantID, postgres.UUIDs(subjectIDs)).Query(func(rows pgx.Rows) error {
				var id string
				var body []byte
				_, err := pgx.ForEachRow(rows, []any{&id, &body}, func() error {
					body, err := seal.EraseEvent(body)
					ids, bodies = append(ids, id), append(bodies, body)
					return err
				})
				return err
			})
		},
		func() (func(b *pgx.Batch), error) {
			return func(b *pgx.Batch) { b.Queue(replaceBodies, tenantID, ids, bodies) }, nil
		})
	if err == nil && len(ids) > 0 {
		err = postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
			b.Queue(waitForClaims, tenantID, ids, claimLock)
			b.Queue(waitForResends, tenantID, ids, s.nowOverride())
			b.Queue(countSending, tenantID, ids, s.nowOverride()).QueryRow(func(row pgx.Row) error {
				return row.Scan(&erased.Sending, &erased.KeyIDs)
			})
			b.Queue(eraseResponses, tenantID, ids, []byte(seal.Erased))
		})
	}
	if err != nil {
		return Erased{}, fmt.Errorf("erase events: %w", err)
	}
	erased.EventIDs = ids
	return erased, nil
}

// Sealed are the sealed members of events with deliveries, for the check of the ring.
func Sealed() seal.SealedValues { return seal.StoredEvents("events", "body") }

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, events *seal.EventReader) tenants.Database {
	return tenants.Database{
		Pool: pool, Events: events,
		Tables: []tenants.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{Name: "attempts", Key: []string{"event_id uuid", "key_id int", "number smallint"}, Bytes: []string{"response_body"}},
			{Name: "deliveries", Key: []string{"event_id uuid", "key_id int"}},
			{Name: "events", Key: []string{"event_id uuid"}, Bytes: []string{"body"}, Events: true},
			{Name: "pauses", Key: []string{"key_id int"}, Hidden: true},
			// Last: until then the other rows are held back.
			{Name: "moving_tenants", Key: []string{"tenant_id uuid"}, Hidden: true},
		},
	}
}
