package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// Due is an endpoint that may have due rows.
type Due struct {
	Endpoint
	// Since is when the first of those rows became due. A claim does not look at rows that became due before.
	Since time.Time
}

// heads are the first pending row of each endpoint, from the given one on. The recursion skips from endpoint to endpoint in
// deliveries_due: its cost grows with the number of endpoints that have pending rows, not with the rows. But it also reads the
// entries of finished rows that cannot be removed yet, and while an old snapshot is open those can be many.
func heads(first string) string {
	return `head AS (
  (` + first + `)
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
}

var selectDue = `
WITH RECURSIVE ` + heads(`
   SELECT d.tenant_id, d.key_id, d.next_attempt_at
     FROM deliveries d
    WHERE d.state = 'PENDING'
    ORDER BY d.tenant_id, d.key_id, d.next_attempt_at
    LIMIT 1`) + `
, pending AS MATERIALIZED (
  SELECT h.tenant_id, h.key_id, h.next_attempt_at, greatest(h.next_attempt_at, (
           SELECT p.until FROM pauses p WHERE p.tenant_id = h.tenant_id AND p.key_id = h.key_id)) AS due_at
    FROM head h
   WHERE ` + notHeld("h.tenant_id") + `
)
SELECT tenant_id, key_id, next_attempt_at, due_at <= ` + now + `, ` + now + `, NULL FROM pending WHERE due_at <= ` + now + ` OR $2
UNION ALL
SELECT NULL, NULL, NULL, NULL, ` + now + `, min(due_at) - ` + now + ` FROM pending WHERE due_at > ` + now

const (
	// The caller's context bounds it, because it may take longer than other statements.
	discoverTimeout = `SET LOCAL statement_timeout = 0`

	// A registration is renewed long before it is removed, and removed long after the last lease under it has ended.
	selectRegistered = `SELECT EXISTS (SELECT FROM senders WHERE id = $2 AND seen_at > ` + now + ` - interval '10 minutes')`

	register = `
INSERT INTO senders (id, seen_at) VALUES ($2, ` + now + `) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`

	deleteSenders = `DELETE FROM senders WHERE seen_at < ` + now + ` - interval '1 hour'`
)

// Discovery is the result of a search.
type Discovery struct {
	// Due are the endpoints that have due rows and are not paused. Those of tenants whose deliveries are held back are left out, also
	// below.
	Due []Due
	// Pending are all endpoints that have pending rows, if they were wanted.
	Pending []Endpoint
	// StartedAt is when the search began.
	StartedAt time.Time
	// NextDue is the time until the first of the others is due; 0 if none has pending rows. Rows that are leased now are due when
	// their leases end.
	NextDue time.Duration
	// Registered reports whether the sender is registered. If not, it must register before it claims.
	Registered bool
}

// Discover searches all pending rows. With pending, it also returns the endpoints that have rows which are not due.
func (s *Store) Discover(ctx context.Context, sender int64, pending bool) (found Discovery, err error) {
	at := s.nowOverride()
	err = postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		found = Discovery{}
		b.Queue(discoverTimeout)
		b.Queue(selectRegistered, at, sender).QueryRow(func(row pgx.Row) error { return row.Scan(&found.Registered) })
		b.Queue(selectDue, at, pending).Query(func(rows pgx.Rows) error {
			return found.scan(rows, pending)
		})
	})
	if err != nil {
		return Discovery{}, fmt.Errorf("find due deliveries: %w", err)
	}
	return found, nil
}

// scan reads the result of selectDue: the endpoints, and a last row without one.
func (d *Discovery) scan(rows pgx.Rows, pending bool) error {
	var (
		tenant *string
		key    *int32
		since  *time.Time
		due    *bool
		next   *time.Duration
	)
	_, err := pgx.ForEachRow(rows, []any{&tenant, &key, &since, &due, &d.StartedAt, &next}, func() error {
		if tenant == nil {
			d.NextDue = postgres.Value(next)
			return nil
		}
		e := Endpoint{*tenant, *key}
		if *due {
			d.Due = append(d.Due, Due{Endpoint: e, Since: *since})
		}
		if pending {
			d.Pending = append(d.Pending, e)
		}
		return nil
	})
	return err
}

// Register makes the leases of a sender known to the claims of the others, or renews that.
func (s *Store) Register(ctx context.Context, sender int64) error {
	if _, err := s.pool.Exec(ctx, register, s.nowOverride(), sender); err != nil {
		return fmt.Errorf("register the sender: %w", err)
	}
	return nil
}

// ForgetSenders removes the registrations of senders that ended long ago.
func (s *Store) ForgetSenders(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, deleteSenders, s.nowOverride()); err != nil {
		return fmt.Errorf("remove registrations: %w", err)
	}
	return nil
}
