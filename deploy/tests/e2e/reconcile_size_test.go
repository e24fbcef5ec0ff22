package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// Every order has two events, every second one holds a unit of stock, and every fourth one is of a link.
const (
	manyOrders = `INSERT INTO orders (tenant_id, id, reference, source, brand_id, personal_link_id, status, item_kind, product_id,
  product_name, delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at)
SELECT md5('tenant' || n % 10)::uuid, lpad(to_hex(n), 32, '0')::uuid, 'R' || n, 'API', md5('brand')::uuid,
  CASE WHEN n % 4 = 0 THEN lpad(to_hex(n), 32, '1')::uuid END, 'COMPLETED', 'CATALOG', md5('gift')::uuid,
  'A mug', 'SE', false, '\x01', at, at
FROM (SELECT n, date_trunc('day', now()) + n * interval '1 microsecond' AS at FROM generate_series(1, $1::int) AS n) AS numbered`

	manyOutcomes = `INSERT INTO reservation_outcomes (tenant_id, order_id, outcome)
SELECT md5('tenant' || n % 10)::uuid, lpad(to_hex(n), 32, '0')::uuid, 'PLACED' FROM generate_series(2, $1::int, 2) AS n`

	manyReservations = `INSERT INTO reservations (order_id, reservation_key, tenant_id, sku_id, units, state, expires_at)
SELECT lpad(to_hex(n), 32, '0')::uuid, convert_to(n::text, 'UTF8'), tenant_id, id, 1, 'CONFIRMED', now()
FROM generate_series(2, $1::int, 2) AS n, (SELECT tenant_id, id FROM skus LIMIT 1) AS sku`

	manyLinks = `INSERT INTO links (
  tenant_id, id, brand_id, batch_id, batch_index, status, claim_url_sealed, order_id, created_at, claimed_at, updated_at)
SELECT md5('tenant' || n % 10)::uuid, lpad(to_hex(n), 32, '1')::uuid, md5('brand')::uuid, md5('batch')::uuid, n, 'CLAIMED', '\x01',
  lpad(to_hex(n), 32, '0')::uuid, now(), now(), now()
FROM generate_series(4, $1::int, 4) AS n`

	manyEvents = `INSERT INTO feed (
  tenant_id, day, position, event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at, data)
SELECT md5('tenant' || n % 10)::uuid, current_date, nextval('feed_position'), gen_random_uuid(), type, md5('brand')::uuid,
  lpad(to_hex(n), 32, '0')::uuid, 0, date_trunc('day', now()) + n * interval '1 microsecond' - early, now(),
  convert_to(repeat('x', 600), 'UTF8')
FROM generate_series(1, $1::int) AS n,
  (VALUES ('order.created', interval '1 second'), ('order.status_changed', '0')) AS e (type, early)`

	manyTenants = `INSERT INTO feed_tenants (tenant_id, last_position) SELECT tenant_id, max(position) FROM feed GROUP BY tenant_id
ON CONFLICT DO NOTHING`
)

func TestReconcileOfManyOrders(t *testing.T) {
	t.Parallel()
	const size = 20_000
	s := reconciled{stack: stack{harness.Start(t)}}
	for _, fill := range []struct{ database, sql string }{
		{"orders", manyOrders},
		{"orders", manyOutcomes},
		{"catalog", manyReservations},
		{"links", manyLinks},
		{"events", manyEvents},
	} {
		_, err := s.connect(t, fill.database).Exec(t.Context(), fill.sql, size)
		require.NoError(t, err, fill.sql)
	}
	s.exec(t, "events", manyTenants)
	for _, database := range []string{"orders", "catalog", "links", "events"} {
		s.exec(t, database, "VACUUM ANALYZE")
	}
	began := time.Now()
	require.Empty(t, s.reconcile(t))
	t.Logf("%d orders compared in %s", size, time.Since(began).Round(time.Millisecond))
	s.exec(t, "catalog", "DELETE FROM reservations WHERE order_id = '"+orderNumber+"'")
	s.exec(t, "links", "UPDATE links SET status = 'ACTIVE', order_id = NULL, claimed_at = NULL WHERE order_id = '"+orderNumber+"'")
	s.exec(t, "events", "DELETE FROM feed WHERE subject_id = '"+orderNumber+"'")
	require.Equal(t, found{"stock_not_held": 1, "link_not_claimed": 1, "last_event_missing": 1}, s.reconcile(t))
}

// orderNumber is the order 10,000.
const orderNumber = "00000000-0000-0000-0000-000000002710"
