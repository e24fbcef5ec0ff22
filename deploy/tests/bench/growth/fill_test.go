package growth_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	// fillers is how many connections write concurrently, chunk how many rows a statement writes.
	fillers = 2
	chunk   = 250_000
)

// fill runs the statement for all numbers from 1 to size, of which $1 is the first and $2 the last of each chunk.
func fill(b *testing.B, pool *pgxpool.Pool, statement string, size int, args ...any) {
	b.Helper()
	var group errgroup.Group
	group.SetLimit(fillers)
	for first := 1; first <= size; first += chunk {
		group.Go(func() error {
			return pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(b.Context(), "SET LOCAL synchronous_commit = off"); err != nil {
					return err
				}
				_, err := tx.Exec(b.Context(), statement, append([]any{first, min(first+chunk-1, size)}, args...)...)
				return err
			})
		})
	}
	require.NoError(b, group.Wait())
}

// definitions selects the statements that drop and create the indexes of a table, without its primary key.
const definitions = `SELECT 'DROP INDEX ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
FROM pg_index i WHERE i.indrelid = $1::regclass AND NOT i.indisunique
UNION ALL
SELECT 'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || conname,
  'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'u'`

// withoutIndexes drops the indexes of a table while f fills it. Creating them afterwards is much faster.
func withoutIndexes(b *testing.B, pool *pgxpool.Pool, table string, f func()) {
	b.Helper()
	rows, err := pool.Query(b.Context(), definitions, table)
	require.NoError(b, err)
	type index struct{ Drop, Make string }
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	require.NoError(b, err)
	for _, i := range indexes {
		_, err := pool.Exec(b.Context(), i.Drop)
		require.NoError(b, err)
	}
	f()
	var group errgroup.Group
	group.SetLimit(fillers)
	for _, i := range indexes {
		group.Go(func() error { return inLargeMemory(b.Context(), pool, i.Make) })
	}
	require.NoError(b, group.Wait())
}

func inLargeMemory(ctx context.Context, pool *pgxpool.Pool, statement string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL maintenance_work_mem = '1GB'"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, statement)
		return err
	})
}

// vacuum does what the server itself would do in the time in which so many rows normally arrive.
func vacuum(b *testing.B, pool *pgxpool.Pool) {
	b.Helper()
	for _, statement := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		_, err := pool.Exec(b.Context(), statement)
		require.NoError(b, err)
	}
}

// readThrough reads the orders into the system's file cache once all platforms are filled, because filling the largest has
// displaced the others. PostgreSQL's own cache does not change.
func (p *platform) readThrough(b *testing.B) {
	b.Helper()
	pool := p.Pool(b, "orders", 1)
	for _, statement := range []string{
		"CREATE EXTENSION pg_prewarm",
		"SELECT pg_prewarm(oid, 'read') FROM pg_class WHERE relname IN ('orders', 'orders_pkey')",
	} {
		_, err := pool.Exec(b.Context(), statement)
		require.NoError(b, err)
	}
}

// The feed keeps thirty days. The oldest is about to be dropped and the service writes to the newest, so the rows go into the
// days between.
const days = 28

const (
	listedDay = `SELECT to_char(day, 'YYYYMMDD'), day::text, (day + 1)::text FROM (SELECT current_date - $1::int AS day) AS listed`

	// Every tenth event belongs to one of a thousand other tenants. One in a hundred is of the small brand, few of the rare
	// one. Ids are in the order of the positions, nearly as in production.
	fillFeed = `INSERT INTO feed (tenant_id, day, position, event_id, type, brand_id, subject_id, origin_key_id, occurred_at,
  recorded_at, data)
SELECT
  CASE WHEN n % 10 = 0 THEN md5('tenant' || n / 10 % 1000)::uuid ELSE $3::uuid END, day, n,
  lpad(to_hex(n), 32, '0')::uuid, 'order.created',
  CASE WHEN n % ($4::bigint / $5::bigint) = 1 THEN $7::uuid WHEN n % 100 = 3 THEN $8::uuid ELSE $6::uuid END,
  lpad(to_hex(n), 32, '0')::uuid, 2, day + interval '12 hours', day + interval '12 hours',
  convert_to('{"id":"' || n || '","text":"' || repeat('x', 250) || '"}', 'UTF8')
FROM (
  SELECT n, (current_date - $9::int + ((n - 1) * $9::int / $4::bigint)::int) AS day
  FROM generate_series($1::bigint, $2::bigint) AS n
) AS numbered`

	fillTenants = `INSERT INTO feed_tenants (tenant_id, last_position) SELECT tenant_id, max(position) FROM feed GROUP BY tenant_id`
	advance     = `SELECT setval('feed_position', (SELECT max(position) FROM feed))`
)

// fillFeed fills the feed of a platform, the same number of events into each day.
func (p *platform) fillFeed(b *testing.B) *filled {
	b.Helper()
	f := &filled{platform: p, rareBrand: uuid.NewString(), smallBrand: uuid.NewString()}
	pool := p.Pool(b, "events", fillers+1)
	for ago := 1; ago <= days; ago++ {
		makeDay(b, pool, ago)
	}
	fill(b, pool, fillFeed, p.size, p.tenant.ID, p.size, few, p.tenant.Brand, f.rareBrand, f.smallBrand, days)
	for _, statement := range []string{fillTenants, advance} {
		_, err := pool.Exec(b.Context(), statement)
		require.NoError(b, err)
	}
	vacuum(b, pool)
	f.storage(b, pool)
	return f
}

// makeDay makes the partition of a day, as the service does.
func makeDay(b *testing.B, pool *pgxpool.Pool, ago int) {
	b.Helper()
	var name, from, to string
	require.NoError(b, pool.QueryRow(b.Context(), listedDay, ago).Scan(&name, &from, &to))
	table := pgx.Identifier{"feed_" + name}.Sanitize()
	_, err := pool.Exec(b.Context(), fmt.Sprintf(
		"CREATE TABLE %s (LIKE feed INCLUDING ALL); ALTER TABLE feed ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')",
		table, table, from, to))
	require.NoError(b, err)
}

// dayOf is the day of an event.
func (f *filled) dayOf(number int) time.Time {
	today := time.Now().UTC().Truncate(24 * time.Hour)
	return today.AddDate(0, 0, -days+(number-1)*days/f.size)
}

// few is how many orders have a rare value, at every size, spread over the whole time.
const few = 200

// The orders are numbered from the oldest to the newest. Every tenth belongs to one of a thousand other tenants. One in a
// hundred is of the small brand and one in a hundred waits, but none does both.
const (
	fillOrders = `INSERT INTO orders (
  tenant_id, id, reference, external_order_id, external_recipient_id, source, brand_id, campaign_id, status, item_kind,
  product_name, budget_amount, budget_currency, delivery_country, received_outside_active_hours, placed_by_key_id,
  placed_by_key_name, carrier, tracking_reference, cancellation_reason, details_sealed, created_at, updated_at)
SELECT
  CASE WHEN n % 10 = 0 THEN md5('tenant' || n / 10 % 1000)::uuid ELSE $3::uuid END,
  lpad(to_hex(n), 32, '0')::uuid, upper(left(md5(n::text), 14)), 'order-' || n, 'recipient-' || n % ($4 / 10),
  'API', CASE WHEN n % ($4 / $5) = 1 THEN $7::uuid WHEN n % 100 = 3 THEN $8::uuid ELSE $6::uuid END,
  CASE WHEN n % ($4 / $5) = 4 THEN $9::uuid END, status, 'CUSTOM',
  'A football signed by the whole team', 1500, 'SEK', 'SE', false, 1, 'benchmark',
  CASE WHEN status = 'COMPLETED' THEN 'Post' END, CASE WHEN status = 'COMPLETED' THEN 'T-' || n END,
  CASE WHEN status = 'CANCELLED' THEN 'Not wanted any more' END,
  decode(repeat(md5(n::text), 8), 'hex'), placed,
  CASE WHEN n % ($4 / 100) = 5 THEN greatest(placed, $10::timestamptz - n * 100 / $4 * interval '1 second')
    ELSE least($10::timestamptz, placed + interval '10 minutes') END
FROM (
  SELECT n, $10::timestamptz - ($4 - n) * interval '8 seconds' AS placed,
    CASE WHEN n % ($4 / $5) = 2 THEN 'REQUESTED' WHEN n % 100 = 7 THEN 'PROCESSING' WHEN n % 50 = 9 THEN 'CANCELLED'
      ELSE 'COMPLETED' END AS status
  FROM generate_series($1::bigint, $2::bigint) AS n
) AS numbered`

	fillMessages = `INSERT INTO order_messages (tenant_id, order_id, id, author_kind, author_id, author_name, body_bytes, created_at)
SELECT tenant_id, id, gen_random_uuid(), 'BACKOFFICE_ACCOUNT', 'staff-7', 'Bea', 0, created_at
FROM generate_series($1::bigint, $2::bigint) AS n JOIN orders ON tenant_id = $3 AND id = lpad(to_hex(n), 32, '0')::uuid
WHERE n % 10 = 1`

	fillAudit = `INSERT INTO order_audit (id, at, tenant_id, order_id, actor_kind, actor_id, operation, status_before, version_before,
  status_after, version_after)
SELECT gen_random_uuid(), created_at, tenant_id, id, 'BACKOFFICE_ACCOUNT', 'staff-7', 'DISPATCH_ORDER', 'PROCESSING', 1, 'SENT', 2
FROM generate_series($1::bigint, $2::bigint) AS n JOIN orders ON tenant_id = $3 AND id = lpad(to_hex(n), 32, '0')::uuid
WHERE n % 10 = 1`

	// Answers are kept for thirty days.
	fillAnswers = `INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer, created_at)
SELECT 1, 'order-' || n, sha256(n::text::bytea), decode(repeat(md5(n::text), 40), 'hex'), now() - n * interval '8 seconds'
FROM generate_series($1::bigint, $2::bigint) AS n`
	keptAnswers = 30 * 24 * 60 * 60 / 8
)

// filled is a platform with orders or events.
type filled struct {
	*platform

	// at is the time of the newest row.
	at time.Time
	// rareBrand has few orders, smallBrand one in a hundred, campaign few.
	rareBrand, smallBrand, campaign string
}

func (p *platform) fillOrders(b *testing.B) *filled {
	b.Helper()
	f := &filled{platform: p, at: time.Now().Truncate(time.Microsecond)}
	f.rareBrand, f.smallBrand, f.campaign = uuid.NewString(), uuid.NewString(), uuid.NewString()
	pool := p.Pool(b, "orders", fillers+1)
	withoutIndexes(b, pool, "orders", func() {
		fill(b, pool, fillOrders, p.size, p.tenant.ID, p.size, few, p.tenant.Brand, f.rareBrand, f.smallBrand, f.campaign, f.at)
	})
	fill(b, pool, fillMessages, p.size, p.tenant.ID)
	fill(b, pool, fillAudit, p.size, p.tenant.ID)
	fill(b, pool, fillAnswers, min(p.size, keptAnswers))
	vacuum(b, pool)
	f.storage(b, pool)
	return f
}

// keyContext returns a context of the tenant's key, which is limited to the brands, if any.
func (f *filled) keyContext(b *testing.B, brands ...string) context.Context {
	b.Helper()
	ctx, err := f.tenant.Call(b.Context(), 1, brands...)
	require.NoError(b, err)
	return ctx
}

// own returns the number of an order of the tenant, a different one each time, spread over the whole time. Its relative
// position is the same at every size.
func (f *filled) own(n int) int {
	const step = 0.618
	at := float64(n) * step
	number := int((at-float64(int(at)))*float64(f.size-10)) + 1
	if number%10 == 0 {
		number++
	}
	return number
}

// known is like own, but returns only orders that were read during the warm-up. They are in memory at every size, like orders
// in use.
func (f *filled) known(n int) int { return f.own(n % warmUps) }

func orderID(number int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012x", number) }
