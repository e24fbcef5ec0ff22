package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// Delivery is a claimed row. The claim with its token may send it until the lease ends.
type Delivery struct {
	DeliveryID
	Attempts int
	// Resent means that the delivery was resent: the log has earlier attempts, which do not count.
	Resent bool
	// Age is the time from the fan-out to the claim.
	Age   time.Duration
	Body  []byte
	Token string
	// TraceParent is the recorded trace in which the event was fanned out, or empty.
	TraceParent string
}

// ClaimRequest bounds a claim.
type ClaimRequest struct {
	// Lease is the time from the beginning of the claim until the rows are due again, unless their results are recorded before.
	Lease time.Duration
	// Limit is the most rows to claim.
	Limit int
	// PerEndpoint is how many rows of one endpoint may be leased, over all instances.
	PerEndpoint int
}

// Claimed is the result of a claim.
type Claimed struct {
	Deliveries []Delivery
	// Contended means that another instance was claiming for an endpoint with due rows. Those rows may have been left although
	// there were slots for them.
	Contended bool
	// More means that due rows may have been left because there were no slots for them. The end of an attempt frees one.
	More bool
}

// With asyncCommit a claim's commit does not wait for the disk. If a crash of the server loses the claim, the rows are due
// again, as after the crash of a sender.
const asyncCommit = `SET LOCAL synchronous_commit = off`

// claimLock is the class of the advisory locks of claims.
const claimLock = 0x77686b31

// heads are the first pending row of each endpoint. The recursion skips from endpoint to endpoint in
// deliveries_due: its cost grows with the number of endpoints that have pending rows, not with the rows.
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

// lockEndpoints returns the endpoints that have a due row. Those with the fewest leased rows come first, so that a new
// endpoint comes before the next row of a busy one. It locks each endpoint that has a slot for a row, without
// waiting, because the number of leased rows must not change between counting and claiming. It also puts the locked
// endpoints into two settings of the transaction, where leaseRows finds them without a round trip in between.
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
), taken AS MATERIALIZED (
  SELECT due.tenant_id, due.key_id, due.leased,
         CASE WHEN due.leased < $2 THEN pg_try_advisory_xact_lock($4::int, due.key_id) ELSE false END AS got
    FROM due
), noted AS MATERIALIZED (
  SELECT set_config('claim.tenants', coalesce(array_agg(tenant_id), '{}')::text, true),
         set_config('claim.keys', coalesce(array_agg(key_id), '{}')::text, true)
    FROM taken
   WHERE got
)
SELECT taken.tenant_id, taken.key_id, taken.leased, taken.got FROM taken CROSS JOIN noted`

// leaseRows is a separate statement after the locks, so it sees everything that their last holders have committed. It takes the
// first row of each endpoint, then the second of each, and so on. If no endpoint was due, the settings are empty or missing.
const leaseRows = `
WITH endpoint AS MATERIALIZED (
  SELECT e.tenant_id, e.key_id,
         (SELECT count(*)
            FROM deliveries d
           WHERE d.tenant_id = e.tenant_id AND d.key_id = e.key_id
             AND d.lease_token IS NOT NULL AND d.next_attempt_at > ` + now + `) AS leased
    FROM unnest(nullif(current_setting('claim.tenants', true), '')::uuid[],
                nullif(current_setting('claim.keys', true), '')::int[]) AS e (tenant_id, key_id)
), candidate AS (
  SELECT d.tenant_id, d.event_id, d.key_id, d.next_attempt_at,
         e.leased + row_number() OVER (PARTITION BY d.tenant_id, d.key_id ORDER BY d.next_attempt_at) AS slot
    FROM endpoint e
   CROSS JOIN LATERAL (
     SELECT r.tenant_id, r.event_id, r.key_id, r.next_attempt_at
       FROM deliveries r
      WHERE r.tenant_id = e.tenant_id AND r.key_id = e.key_id
        AND r.state = 'PENDING' AND r.next_attempt_at <= ` + now + `
      ORDER BY r.next_attempt_at
      LIMIT greatest($2 - e.leased, 0)
      FOR UPDATE SKIP LOCKED) d
), chosen AS MATERIALIZED (
  SELECT c.tenant_id, c.event_id, c.key_id FROM candidate c ORDER BY c.slot, c.next_attempt_at LIMIT $3
)
UPDATE deliveries d
   SET lease_token = $4, next_attempt_at = ` + now + ` + $5::interval
  FROM chosen c
  JOIN events e ON e.tenant_id = c.tenant_id AND e.event_id = c.event_id
 WHERE d.tenant_id = c.tenant_id AND d.event_id = c.event_id AND d.key_id = c.key_id
RETURNING d.tenant_id, d.key_id, d.event_id, d.attempts, d.attempts_before > 0, ` + now + ` - d.created_at, e.body, e.traceparent`

// Claim leases due rows to the caller, in one round trip.
func (s *Store) Claim(ctx context.Context, r ClaimRequest) (Claimed, error) {
	token, at := uuid.NewString(), s.nowOverride()
	var (
		claimed Claimed
		found   locked
	)
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		claimed, found = Claimed{}, locked{}
		b.Queue(asyncCommit)
		b.Queue(lockEndpoints, at, r.PerEndpoint, r.Limit, claimLock).Query(func(rows pgx.Rows) (err error) {
			found, err = lockedOf(rows, r, &claimed)
			return err
		})
		b.Queue(leaseRows, at, r.PerEndpoint, r.Limit, token, r.Lease).Query(func(rows pgx.Rows) (err error) {
			claimed.Deliveries, err = deliveriesOf(rows, token)
			return err
		})
	})
	if err != nil {
		return Claimed{}, fmt.Errorf("claim deliveries: %w", err)
	}
	claimed.More = claimed.More || len(claimed.Deliveries) >= r.Limit || found.filled(claimed.Deliveries, r.PerEndpoint)
	return claimed, nil
}

func deliveriesOf(rows pgx.Rows, token string) ([]Delivery, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Delivery, error) {
		d := Delivery{Token: token}
		return d, row.Scan(&d.TenantID, &d.KeyID, &d.EventID, &d.Attempts, &d.Resent, &d.Age, &d.Body, &d.TraceParent)
	})
}

// locked are the endpoints that a transaction has locked, with the number of rows that were leased before.
type locked map[Endpoint]int

// lockedOf reads the result of lockEndpoints and records in claimed whether an endpoint could not be locked.
func lockedOf(rows pgx.Rows, r ClaimRequest, claimed *Claimed) (locked, error) {
	found := locked{}
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
			found[endpoint] = leased
		}
		return nil
	})
	claimed.More = claimed.More || tag.RowsAffected() >= int64(r.Limit)
	return found, err
}

// filled reports whether the claim leaves an endpoint without a slot.
func (l locked) filled(deliveries []Delivery, perEndpoint int) bool {
	for _, d := range deliveries {
		if l[d.Endpoint]++; l[d.Endpoint] >= perEndpoint {
			return true
		}
	}
	return false
}
