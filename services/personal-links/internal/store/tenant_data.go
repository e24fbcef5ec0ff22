package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
)

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, ring *seal.Ring) tenants.Database {
	return tenants.Database{
		Pool: pool, Ring: ring,
		Tables: []tenants.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{Name: "sandbox_claims", Key: []string{"link_id uuid"}, Hidden: true},
			{
				Name: "links", Key: []string{"id uuid"}, Omit: []string{"token_hash"},
				Sealed: sealedLinks().Columns, Text: []string{"claim_url_sealed", "reason_sealed"},
			},
			// After the links: without its link, no draft can be stored. The tenant never gets what a player enters.
			{Name: "form_drafts", Key: []string{"id uuid"}, Hidden: true},
			{Name: "link_batches", Key: []string{"id uuid"}},
			{Name: "outbox", Key: []string{"id bigint"}, Hidden: true}, // Last, since only all of it can be read.
			{Name: "link_audit", Key: []string{"link_id uuid", "id bigint"}, Kept: "audit without personal data", Hidden: true},
		},
		InFlight: []string{
			// Claims that are placing an order.
			`SELECT count(*) FROM links WHERE tenant_id = $1 AND claim_order_id IS NOT NULL`,
			// Changes that the readers have not stored.
			`SELECT count(*) FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL`,
		},
	}
}
