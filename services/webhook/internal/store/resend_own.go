package store

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// lockDelivery waits for a concurrent resend, whose effect the next statement sees. It reads the fields Now, Needed and BrandID of
// Resend.
const lockDelivery = `SELECT ` + now + `, d.state <> 'PENDING' OR d.lease_token IS NULL AND d.next_attempt_at > ` + now + `,
       (SELECT e.brand_id FROM events e WHERE e.tenant_id = $2 AND e.event_id = $4 LIMIT 1)
  FROM deliveries d
 WHERE d.tenant_id = $2 AND d.key_id = $3 AND d.event_id = $4 FOR NO KEY UPDATE`

// Resend makes a delivery due in a transaction of the caller: a finished one again, a pending one now.
type Resend struct {
	store      *Store
	endpoint   Endpoint
	visibility Visibility
	eventID    string

	// Found is the delivery as it was read; nil if the endpoint has none for the event, or its key may not see it.
	Found *KeyLogEntry
	// BrandID is the brand of the event.
	BrandID string
	// Needed reports whether the delivery is neither due nor in flight.
	Needed bool
	// Now is when the transaction began: the delivery is due from then on.
	Now time.Time
}

// NewResend prepares the resend of a delivery that the key may see.
func (s *Store) NewResend(e Endpoint, visibility Visibility, eventID string) *Resend {
	return &Resend{store: s, endpoint: e, visibility: visibility, eventID: eventID}
}

// QueueRead queues the statements that lock and read the delivery.
func (r *Resend) QueueRead(b *pgx.Batch) {
	r.Found, r.BrandID, r.Needed = nil, "", false
	b.Queue(lockDelivery, r.store.nowOverride(), r.endpoint.TenantID, r.endpoint.KeyID, r.eventID).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&r.Now, &r.Needed, &r.BrandID}, func() error { return nil })
		return err
	})
	const fewPending = false // It matters only to a query for pending deliveries.
	query := KeyLogQuery{Endpoint: r.endpoint, Visibility: r.visibility, EventID: &r.eventID, Limit: 1}
	sql, args := keyLogStatement(query, fewPending)
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		page, err := keyLogPage(rows, 1)
		if len(page.Deliveries) > 0 {
			r.Found = &page.Deliveries[0]
		}
		return err
	})
}

// QueueUpdate queues the resend.
func (r *Resend) QueueUpdate(b *pgx.Batch) {
	b.Queue(resendOne, r.store.nowOverride(), r.endpoint.TenantID, r.endpoint.KeyID, r.eventID)
}

const (
	// MaxReplayed bounds the deliveries of a replay.
	MaxReplayed = 10_000
	// MaxReplaySpan bounds the deliveries in the span of a replay, of any type and state: a replay scans all of them.
	MaxReplaySpan = 100_000
)

// lockReplayed locks the deliveries of a replay. It waits for locked rows, because an erasure also locks rows that stay as they
// are. $6 is MaxReplayed and $7 is MaxReplaySpan: each query reads one row more, which shows whether there are too many.
const lockReplayed = `
WITH scanned AS MATERIALIZED (
  SELECT c.event_id FROM deliveries c
   WHERE c.tenant_id = $1 AND c.key_id = $2 AND c.event_id >= $3 AND c.event_id < $4
   ORDER BY c.event_id LIMIT $7 + 1
), chosen AS MATERIALIZED (
  SELECT d.event_id
    FROM scanned s
   CROSS JOIN LATERAL (
     SELECT d.event_id FROM deliveries d
      WHERE d.tenant_id = $1 AND d.key_id = $2 AND d.event_id = s.event_id
        AND d.state <> 'PENDING'
        AND ($5::text[] IS NULL AND $8::uuid[] IS NULL OR EXISTS (
          SELECT FROM events e WHERE e.tenant_id = $1 AND e.event_id = d.event_id
             AND ($5 IS NULL OR e.type = ANY ($5)) AND ($8 IS NULL OR e.brand_id = ANY ($8))))
      FOR NO KEY UPDATE) d
   LIMIT $6 + 1
)
SELECT (SELECT count(*) FROM scanned) > $7, coalesce((SELECT array_agg(event_id) FROM chosen), '{}')`

// tooManyPending reads whether the endpoint has at least $3 pending deliveries.
const tooManyPending = `SELECT count(*) >= $3 FROM (
  SELECT FROM deliveries d WHERE d.tenant_id = $1 AND d.key_id = $2 AND d.state = 'PENDING' LIMIT $3) w`

// shortenLog continues the statement after the UPDATE, as in resend.go.
var resendMany = `WITH resent AS (
UPDATE deliveries d` + sendAgain + `
  FROM unnest($4::uuid[]) AS c (event_id)
 WHERE d.tenant_id = $2 AND d.key_id = $3 AND d.event_id = c.event_id AND d.state <> 'PENDING'` + shortenLog

// Replay makes the finished deliveries of a span of events due again in a transaction of the caller.
type Replay struct {
	store      *Store
	endpoint   Endpoint
	span       Span
	visibility Visibility
	events     []string

	// Busy reports whether so many deliveries of the endpoint are pending that more must wait.
	Busy bool
	// TooLong reports whether the span has more deliveries of any type and state than MaxReplaySpan.
	TooLong bool
	// Deliveries is how many are sent again. More than MaxReplayed are too many.
	Deliveries int
}

// NewReplay prepares a replay. The span's states are not used.
func (s *Store) NewReplay(e Endpoint, span Span, visibility Visibility) *Replay {
	return &Replay{store: s, endpoint: e, span: span, visibility: visibility}
}

// QueueRead queues the statements that lock and read the deliveries.
func (r *Replay) QueueRead(b *pgx.Batch) {
	r.events = nil
	b.Queue(tooManyPending, r.endpoint.TenantID, r.endpoint.KeyID, MaxReplayed).QueryRow(func(row pgx.Row) error {
		return row.Scan(&r.Busy)
	})
	b.Queue(lockReplayed, r.endpoint.TenantID, r.endpoint.KeyID, r.span.From, r.span.Before, r.visibility.Types, MaxReplayed,
		MaxReplaySpan, r.visibility.Brands).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&r.TooLong, &r.events)
		r.Deliveries = len(r.events)
		return err
	})
}

// QueueUpdate queues the replay.
func (r *Replay) QueueUpdate(b *pgx.Batch) {
	b.Queue(resendMany, r.store.nowOverride(), r.endpoint.TenantID, r.endpoint.KeyID, r.events)
}
