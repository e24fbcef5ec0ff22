package store_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

func TestEveryTableOfTenantsIsErased(t *testing.T) {
	t.Parallel()
	tenantstest.Check(t, store.TenantData(nil), func(t *testing.T, db postgres.Querier, tenantID string, keyID int32) {
		const product = "a198f2e4-0000-7000-8000-000000000001"
		campaign, sku, file := uuid.NewString(), uuid.NewString(), "0123456789abcdef0123456789abcdef"
		exec := func(sql string, args ...any) { pgtest.Exec(t, db, sql, args...) }
		exec(`INSERT INTO products (id, state, published_once, name, description, translations, variations, categories,
		    available_countries, image_file_ids, customization_available, gift_set, ready_to_send, updated_at)
		  VALUES ($1, 'PUBLISHED', true, 'Cup', '', '{}', '[]', '{}', '{SE}', '{}', false, false, false, now())
		  ON CONFLICT DO NOTHING`, product)
		exec(`INSERT INTO images (file_id, digest, content_type, size, width, height)
		  VALUES ($1, $1 || 'ff', 'image/png', 1, 1, 1) ON CONFLICT DO NOTHING`, file)
		exec(`INSERT INTO campaigns (tenant_id, id, brand_id, name, status) VALUES ($1, $2, $1, 'same', 'ACTIVE')`, tenantID, campaign)
		exec(`INSERT INTO offerings (tenant_id, campaign_id, product_id, status, supply_type, position)
		  VALUES ($1, $2, $3, 'ACTIVE', 'STOCKED', 1)`, tenantID, campaign, product)
		exec(`INSERT INTO skus (tenant_id, campaign_id, product_id, variations_key, id, variations, offered, stock)
		  VALUES ($1, $2, $3, decode(repeat('00', 32), 'hex'), $4, '[]', true, 5)`, tenantID, campaign, product, sku)
		exec(`INSERT INTO reservations (order_id, reservation_key, tenant_id, sku_id, units, state, expires_at)
		  VALUES (gen_random_uuid(), 'same', $1, $2, 1, CASE WHEN $3 THEN 'RESERVED' ELSE 'CONFIRMED' END, now())`,
			tenantID, sku, keyID == tenantstest.InFlight)
		exec(`INSERT INTO sandbox_products (tenant_id, product_id, unlisted, added, removed, updated_at)
		  VALUES ($1, $2, true, '{}', '{}', now())`, tenantID, product)
		exec(`INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer) VALUES ($1, 'same', 'f', 'a')`, keyID)
		for _, pictures := range []string{"heroes", "portraits", "signatures", "logos", "dark_logos"} {
			exec(`INSERT INTO brand_`+pictures+` (tenant_id, brand_id, file_id, uploaded_at) VALUES ($1, $1, $2, now())`, tenantID, file)
		}
		exec(`INSERT INTO catalog_audit (tenant_id, id, actor_kind, actor_id, action, subject_id, detail)
		  VALUES ($1, gen_random_uuid(), 'SYSTEM', '', 'campaign.expire', $2, '{}')`, tenantID, campaign)
	}, daemon.RetentionClockMigrations(), idempotency.Migrations(), store.Migrations())
}
