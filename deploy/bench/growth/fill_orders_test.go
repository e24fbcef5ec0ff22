package growth_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
)

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

	fillMessages = `INSERT INTO order_messages (id, tenant_id, order_id, author_kind, author_id, author_name, body, created_at)
SELECT gen_random_uuid(), tenant_id, id, 'BACKOFFICE_ACCOUNT', 'staff-7', 'Bea', 'It is on its way.', created_at
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

// own returns the number of an order of the tenant, another one each time, from the whole time. Its relative position is the
// same at every size.
func (f *filled) own(n int) int {
	const step = 0.618
	at := float64(n) * step
	number := int((at-float64(int(at)))*float64(f.size-10)) + 1
	if number%10 == 0 {
		number++
	}
	return number
}

// known is like own, but only of orders that were read during the warm-up: at every size they are in memory, as orders in
// use are.
func (f *filled) known(n int) int { return f.own(n % warmUps) }

func orderID(number int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012x", number) }
