package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// Delivery is a claimed row: whoever holds its token may send it until its lease ends.
type Delivery struct {
	Endpoint
	EventID  string
	Attempts int
	// Resent says that the log has attempts of before those.
	Resent bool
	// Age is the time from the fan-out to the claim.
	Age   time.Duration
	Body  []byte
	Token string
	// TraceParent is the recorded trace the event was fanned out in, or empty.
	TraceParent string
}

// ClaimRequest bounds a claim.
type ClaimRequest struct {
	// Lease is how long after the beginning of the claim the rows are due again if nobody records
	// their outcome.
	Lease time.Duration
	// Limit of the rows in all.
	Limit int
	// PerEndpoint is how many rows of one endpoint may be leased at once, over all instances.
	PerEndpoint int
}

// Claimed is the result of a claim.
type Claimed struct {
	Deliveries []Delivery
	// Contended says that another instance was claiming for an endpoint that has rows due: they
	// may have been left although there was room for them.
	Contended bool
	// More says that rows that are due may have been left for want of room: the end of an attempt
	// makes some.
	More bool
}

// begin makes a claim's commit not wait for the disk. A crash of the server that loses it makes the
// rows due again, as the crash of a sender does.
const begin = `BEGIN; SET LOCAL synchronous_commit = off`

// claimLock keeps the advisory locks of this claim apart from all others of the database.
const claimLock = 0x77686b31

// heads are the first pending row of each endpoint. The recursion skips from endpoint to endpoint in
// deliveries_due: its cost grows with the endpoints that have rows pending, not with the rows.
const heads = `head AS (
  (SELECT d.tenant_id, d.key_id, d.next_attempt_at
     FROM deliveries d
    WHERE d.state = 'PENDING'
    ORDER BY d.tenant_id, d.key_id, d.next_attempt_at
    LIMIT 1)
  UNION ALL
  SELECT n.tenant_id, n.key_id, n.next_attempt_at
    FROM head h
   CROSS JOIN LATERAL (
     SELECT d.tenant_id, d.key_id, d.next_attempt_at
       FROM deliveries d
      WHERE d.state = 'PENDING' AND (d.tenant_id, d.key_id) > (h.tenant_id, h.key_id)
      ORDER BY d.tenant_id, d.key_id, d.next_attempt_at
      LIMIT 1) n
)`

// The endpoints that have a row due, those with the fewest rows leased first, so that a new endpoint
// comes before the next row of a busy one; those without room for a row are only named. Each endpoint with room is locked for the transaction, without waiting, because the
// rows leased must not change between counting and claiming.
const lockEndpoints = `
WITH RECURSIVE ` + heads + `, due AS MATERIALIZED (
  SELECT h.tenant_id, h.key_id, busy.leased
    FROM head h
   CROSS JOIN LATERAL (
     SELECT count(*) AS leased
       FROM deliveries d
      WHERE d.tenant_id = h.tenant_id AND d.key_id = h.key_id
        AND d.lease_token IS NOT NULL AND d.next_attempt_at > ` + now + `) busy
   WHERE h.next_attempt_at <= ` + now + `
     AND NOT EXISTS (
       SELECT 1 FROM pauses p WHERE p.tenant_id = h.tenant_id AND p.key_id = h.key_id AND p.until > ` + now + `)
   ORDER BY busy.leased, h.next_attempt_at
   LIMIT $3
)
SELECT due.tenant_id, due.key_id, due.leased,
       CASE WHEN due.leased < $2 THEN pg_try_advisory_xact_lock($4::int, due.key_id) ELSE false END
  FROM due`

// A statement of its own after the locks, so that it sees what their last holders have committed.
// Rows are taken round by round over the endpoints: the first of each, then the second.
const leaseRows = `
WITH endpoint AS MATERIALIZED (
  SELECT e.tenant_id, e.key_id,
         (SELECT count(*)
            FROM deliveries d
           WHERE d.tenant_id = e.tenant_id AND d.key_id = e.key_id
             AND d.lease_token IS NOT NULL AND d.next_attempt_at > ` + now + `) AS leased
    FROM unnest($2::uuid[], $3::int[]) AS e (tenant_id, key_id)
), candidate AS (
  SELECT d.tenant_id, d.event_id, d.key_id, d.next_attempt_at,
         e.leased + row_number() OVER (PARTITION BY d.tenant_id, d.key_id ORDER BY d.next_attempt_at) AS turn
    FROM endpoint e
   CROSS JOIN LATERAL (
     SELECT r.tenant_id, r.event_id, r.key_id, r.next_attempt_at
       FROM deliveries r
      WHERE r.tenant_id = e.tenant_id AND r.key_id = e.key_id
        AND r.state = 'PENDING' AND r.next_attempt_at <= ` + now + `
      ORDER BY r.next_attempt_at
      LIMIT greatest($4 - e.leased, 0)
      FOR UPDATE SKIP LOCKED) d
), chosen AS MATERIALIZED (
  SELECT c.tenant_id, c.event_id, c.key_id FROM candidate c ORDER BY c.turn, c.next_attempt_at LIMIT $5
)
UPDATE deliveries d
   SET lease_token = $6, next_attempt_at = ` + now + ` + $7::interval
  FROM chosen c
  JOIN events e ON e.tenant_id = c.tenant_id AND e.event_id = c.event_id
 WHERE d.tenant_id = c.tenant_id AND d.event_id = c.event_id AND d.key_id = c.key_id
RETURNING d.tenant_id, d.key_id, d.event_id, d.attempts, d.attempts_before > 0, ` + now + ` - d.created_at, e.body, e.traceparent`

// Claim leases due rows to the caller.
func (s *Store) Claim(ctx context.Context, r ClaimRequest) (Claimed, error) {
	token := uuid.NewString()
	var claimed Claimed
	err := postgres.InTxWith(ctx, s.pool, pgx.TxOptions{BeginQuery: begin}, func(tx pgx.Tx) error {
		claimed = Claimed{}
		at := s.instead()
		found, err := lockDue(ctx, tx, at, r, &claimed)
		if err != nil || len(found.keys) == 0 {
			return err
		}
		rows, err := tx.Query(ctx, leaseRows, at, found.tenants, found.keys, r.PerEndpoint, r.Limit, token, r.Lease)
		if err != nil {
			return err
		}
		claimed.Deliveries, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Delivery, error) {
			d := Delivery{Token: token}
			return d, row.Scan(&d.TenantID, &d.KeyID, &d.EventID, &d.Attempts, &d.Resent, &d.Age, &d.Body, &d.TraceParent)
		})
		claimed.More = claimed.More || len(claimed.Deliveries) >= r.Limit || found.filled(claimed.Deliveries, r.PerEndpoint)
		return err
	})
	if err != nil {
		return Claimed{}, fmt.Errorf("claim deliveries: %w", err)
	}
	return claimed, nil
}

// locked are the endpoints a transaction may claim for.
type locked struct {
	tenants []string
	keys    []int32
	// leased is how many rows of each were leased before.
	leased map[Endpoint]int
}

// filled says whether the claim leaves an endpoint without room.
func (l locked) filled(deliveries []Delivery, perEndpoint int) bool {
	for _, d := range deliveries {
		if l.leased[d.Endpoint]++; l.leased[d.Endpoint] >= perEndpoint {
			return true
		}
	}
	return false
}

func lockDue(ctx context.Context, tx pgx.Tx, at *time.Time, r ClaimRequest, claimed *Claimed) (locked, error) {
	found := locked{leased: map[Endpoint]int{}}
	rows, err := tx.Query(ctx, lockEndpoints, at, r.PerEndpoint, r.Limit, claimLock)
	if err != nil {
		return found, err
	}
	var (
		endpoint Endpoint
		leased   int
		got      bool
	)
	tag, err := pgx.ForEachRow(rows, []any{&endpoint.TenantID, &endpoint.KeyID, &leased, &got}, func() error {
		switch {
		case leased >= r.PerEndpoint:
			claimed.More = true
		case !got:
			claimed.Contended = true
		default:
			found.tenants, found.keys = append(found.tenants, endpoint.TenantID), append(found.keys, endpoint.KeyID)
			found.leased[endpoint] = leased
		}
		return nil
	})
	claimed.More = claimed.More || tag.RowsAffected() >= int64(r.Limit)
	return found, err
}
