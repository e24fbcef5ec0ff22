package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/tenants"
)

// TenantData describes all rows of tenants. Gifts are shared by all tenants, and so are images: the file of a logo is no longer
// public once no brand has it.
func TenantData(pool *pgxpool.Pool) tenants.Database {
	return tenants.Database{
		Pool: pool,
		Tables: []tenants.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{Name: "sandbox_products", Key: []string{"product_id uuid"}, Hidden: true},
			{Name: "reservations", Key: []string{"order_id uuid"}, Hidden: true},
			{Name: "skus", Key: []string{"id uuid"}, Omit: []string{"variations_key"}},
			{Name: "offerings", Key: []string{"campaign_id uuid", "product_id uuid"}},
			{Name: "campaigns", Key: []string{"id uuid"}},
			{Name: "brand_heroes", Key: []string{"brand_id uuid", "file_id text"}},
			{Name: "brand_portraits", Key: []string{"brand_id uuid", "file_id text"}},
			{Name: "brand_signatures", Key: []string{"brand_id uuid", "file_id text"}},
			{Name: "brand_logos", Key: []string{"brand_id uuid", "file_id text"}},
			{Name: "brand_dark_logos", Key: []string{"brand_id uuid", "file_id text"}},
			{
				Name: "catalog_audit", Key: []string{"id uuid"}, Hidden: true,
				Kept: "audit without personal data, deleted after GIFTING_AUDIT_RETENTION",
			},
		},
		// A unit that is held for an order about to commit.
		InFlight: []string{`SELECT count(*) FROM reservations WHERE tenant_id = $1 AND state = 'RESERVED'`},
	}
}
