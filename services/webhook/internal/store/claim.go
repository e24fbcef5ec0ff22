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
	// Deferred means that the delivery was not due when its event was stored: it was resent, added later, or its endpoint was paused.
	Deferred bool
	// Age is the time from the fan-out, the last resend or the end of the last pause of the endpoint to the claim.
	Age time.Duration
	// Type and BrandID are those of the event.
	Type, BrandID string
	Body          []byte
	Token         string
	// TraceParent is the recorded trace in which the event was fanned out, or empty.
	TraceParent string
}

// ClaimRequest says for what to claim, and bounds the claim.
type ClaimRequest struct {
	// Sender is the id under which the claiming process has registered. Without a registration nothing is claimed.
	Sender int64
	// Endpoints are those to claim for. Among those with equally many rows in flight, the first ones come first.
	Endpoints []ClaimTarget
	// Share is how many rows of one endpoint may be leased, over all instances.
	Share int
	// Lease is the time from the beginning of the claim until the rows are due again, unless their results are recorded before.
	Lease time.Duration
	// Limit is the most rows to claim.
	Limit int
}

// ClaimTarget is an endpoint to claim for.
type ClaimTarget struct {
	Due
	// InFlight is how many of its rows the claiming process has. Leases of other processes are counted by the claim.
	InFlight int
	// Rows is the most rows of it to claim.
	Rows int
}

// Claimed is the result of a claim.
type Claimed struct {
	Deliveries []Delivery
	// Contended are endpoints with due rows for which another instance was claiming.
	Contended []Due
	// Unclaimed are endpoints whose due rows were not all claimed, because there were no slots for them.
	Unclaimed []Due
}

// With asyncCommit in the list of a query's columns, its commit does not wait for the disk.
const asyncCommit = `set_config('synchronous_commit', 'off', true)`

// claimLock is the class of the advisory locks of claims, and of the fan-out when it leases. The function hold_deliveries has it
// too.
const claimLock = 0x77686b31

// notHeld is whether the deliveries of a tenant may be leased. Those of a tenant that moves to another cell are held back.
func notHeld(tenant string) string {
	return `NOT EXISTS (SELECT FROM moving_tenants m WHERE m.tenant_id = ` + tenant + `)`
}

// lockEndpoints returns those of the endpoints that have a due row and are not paused, with the time of that row. It locks
// each, without waiting, because the number of leased rows must not change between counting and claiming. It also puts the
// numbers of the locked ones into a setting of the transaction, where leaseRows finds them without a round trip in between.
//
// The commit of a claim does not wait for the disk. If a crash of the server loses the claim, the rows are due again, as after the
// crash of a sender.
var lockEndpoints = `
WITH due AS MATERIALIZED (
  SELECT w.n, w.key_id, first.next_attempt_at
    FROM unnest($2::uuid[], $3::int[], $4::timestamptz[]) WITH ORDINALITY AS w (tenant_id, key_id, since, n)
   CROSS JOIN LATERAL (
     SELECT d.next_attempt_at
       FROM deliveries d
      WHERE d.tenant_id = w.tenant_id AND d.key_id = w.key_id AND d.state = 'PENDING'
        AND d.next_attempt_at >= w.since AND d.next_attempt_at <= ` + now + `
      ORDER BY d.next_attempt_at
      LIMIT 1) first
   WHERE EXISTS (SELECT FROM senders WHERE id = $5) AND ` + notHeld("w.tenant_id") + `
     AND NOT EXISTS (
       SELECT FROM pauses p WHERE p.tenant_id = w.tenant_id AND p.key_id = w.key_id AND p.until > ` + now + `)
), taken AS MATERIALIZED (
  SELECT due.n, due.next_attempt_at, pg_try_advisory_xact_lock($6::int, due.key_id) AS got FROM due
), noted AS MATERIALIZED (
  SELECT set_config('claim.locked', coalesce(array_agg(n), '{}')::text, true), ` + asyncCommit + ` FROM taken WHERE got
)
SELECT taken.n, taken.next_attempt_at, taken.got FROM taken CROSS JOIN noted`

// leasedBy are the live leases of one sender for an endpoint, at most as many as the limit. Senders are looked at one by one
// because the index then leads to the leases that have not ended: the entries before them may be of rows that are long finished
// and cannot be removed yet.
func leasedBy(sender, endpoint, limit string) string {
	return `SELECT FROM deliveries l
         WHERE l.tenant_id = ` + endpoint + `.tenant_id AND l.key_id = ` + endpoint + `.key_id AND l.leased_by = ` + sender + `
           AND l.lease_token IS NOT NULL AND l.next_attempt_at > ` + now + `
         LIMIT ` + limit
}

// leasedByOthers counts the live leases of the other senders for an endpoint, of each at most as many as the limit.
func leasedByOthers(endpoint, sender, limit string) string {
	return `
     SELECT count(*) AS leased
       FROM senders s
      CROSS JOIN LATERAL (` + leasedBy("s.id", endpoint, limit) + `) lease
      WHERE s.id <> ` + sender
}

// leaseRows is a separate statement after the locks, so it sees everything that their last holders have committed. It takes the
// first row of each endpoint, then the second of each, and so on.
var leaseRows = `
WITH endpoint AS MATERIALIZED (
  SELECT w.tenant_id, w.key_id, w.since, w.n, others.leased AS others, w.in_flight + others.leased AS leased,
         least($7 - w.in_flight - others.leased, w.rows) AS free
    FROM unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::int[], $11::int[])
         WITH ORDINALITY AS w (tenant_id, key_id, since, in_flight, rows, n)
   CROSS JOIN LATERAL (` + leasedByOthers("w", "$6", "$7::int") + `) others
   WHERE w.n = ANY (nullif(current_setting('claim.locked', true), '')::bigint[]) AND ` + notHeld("w.tenant_id") + `
), candidate AS (
  SELECT d.tenant_id, d.event_id, d.key_id, d.next_attempt_at, e.n, e.others,
         e.leased + row_number() OVER (PARTITION BY d.tenant_id, d.key_id ORDER BY d.next_attempt_at) AS slot
    FROM endpoint e
   CROSS JOIN LATERAL (
     SELECT r.tenant_id, r.event_id, r.key_id, r.next_attempt_at
       FROM deliveries r
      WHERE r.tenant_id = e.tenant_id AND r.key_id = e.key_id
        AND r.state = 'PENDING' AND r.next_attempt_at >= e.since AND r.next_attempt_at <= ` + now + `
      ORDER BY r.next_attempt_at
      LIMIT greatest(e.free, 0)
      FOR UPDATE SKIP LOCKED) d
), chosen AS MATERIALIZED (
  SELECT c.tenant_id, c.event_id, c.key_id, c.next_attempt_at, c.others FROM candidate c ORDER BY c.slot, c.n LIMIT $8
)
UPDATE deliveries d
   SET lease_token = $9, leased_by = $6, next_attempt_at = ` + now + ` + $10::interval
  FROM chosen c
  JOIN events e ON e.tenant_id = c.tenant_id AND e.event_id = c.event_id
  LEFT JOIN pauses p ON p.tenant_id = c.tenant_id AND p.key_id = c.key_id
 WHERE d.tenant_id = c.tenant_id AND d.event_id = c.event_id AND d.key_id = c.key_id
RETURNING d.tenant_id, d.key_id, d.event_id, d.attempts,
          d.created_at <> e.created_at OR coalesce(p.until > d.created_at, false), ` + now + ` - greatest(d.created_at, p.until),
          e.type, e.brand_id, e.body, e.traceparent, c.next_attempt_at, c.others`

// Claim leases due rows to the caller, in one round trip.
func (s *Store) Claim(ctx context.Context, r ClaimRequest) (Claimed, error) {
	token, at := uuid.NewString(), s.nowOverride()
	tenants := postgres.UUIDColumn(r.Endpoints, func(w ClaimTarget) string { return w.TenantID })
	keys := postgres.Column(r.Endpoints, func(w ClaimTarget) int32 { return w.KeyID })
	since := postgres.Column(r.Endpoints, func(w ClaimTarget) time.Time { return w.Since })
	inFlight := postgres.Column(r.Endpoints, func(w ClaimTarget) int { return w.InFlight })
	most := postgres.Column(r.Endpoints, func(w ClaimTarget) int { return w.Rows })
	var (
		claimed Claimed
		found   []locked
	)
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		claimed, found = Claimed{}, nil
		b.Queue(lockEndpoints, at, tenants, keys, since, r.Sender, claimLock).Query(func(rows pgx.Rows) (err error) {
			found, err = lockedOf(rows, r.Endpoints, &claimed)
			return err
		})
		b.Queue(leaseRows, at, tenants, keys, since, inFlight, r.Sender, r.Share, r.Limit, token, r.Lease, most).
			Query(func(rows pgx.Rows) error { return claimed.read(rows, found, r, token) })
	})
	if err != nil {
		return Claimed{}, fmt.Errorf("claim deliveries: %w", err)
	}
	return claimed, nil
}

// locked is an endpoint that a claim has locked. Since is when its first row became due.
type locked struct {
	ClaimTarget

	// rows is how many of its rows were claimed, and others how many were leased by other processes.
	rows, others int
}

// lockedOf reads the result of lockEndpoints and adds the endpoints that could not be locked to claimed.
func lockedOf(rows pgx.Rows, wanted []ClaimTarget, claimed *Claimed) (found []locked, err error) {
	var (
		n     int
		since time.Time
		got   bool
	)
	_, err = pgx.ForEachRow(rows, []any{&n, &since, &got}, func() error {
		w := wanted[n-1]
		if w.Since = since; got {
			found = append(found, locked{ClaimTarget: w})
		} else {
			claimed.Contended = append(claimed.Contended, w.Due)
		}
		return nil
	})
	return found, err
}

// read reads the result of leaseRows: the claimed rows, and which endpoints have more.
func (c *Claimed) read(rows pgx.Rows, found []locked, r ClaimRequest, token string) error {
	byEndpoint := make(map[Endpoint]*locked, len(found))
	for i := range found {
		byEndpoint[found[i].Endpoint] = &found[i]
	}
	d := Delivery{Token: token}
	var (
		due    time.Time
		others int
	)
	_, err := pgx.ForEachRow(rows, []any{
		&d.TenantID, &d.KeyID, &d.EventID, &d.Attempts, &d.Deferred, &d.Age, &d.Type, &d.BrandID, &d.Body, &d.TraceParent, &due, &others,
	}, func() error {
		c.Deliveries = append(c.Deliveries, d)
		l := byEndpoint[d.Endpoint]
		if l.rows, l.others = l.rows+1, others; l.Since.Before(due) {
			l.Since = due
		}
		return nil
	})
	for _, l := range found {
		if l.rows == 0 || l.rows >= min(r.Share-l.InFlight-l.others, l.Rows) || len(c.Deliveries) >= r.Limit {
			c.Unclaimed = append(c.Unclaimed, l.Due)
		}
	}
	return err
}
