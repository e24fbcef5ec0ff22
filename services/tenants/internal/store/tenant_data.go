package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/tenants"
)

const (
	tombstone = "proof of the erasure without personal data, kept for ever"
	audited   = "audit without personal data, deleted after GIFTING_AUDIT_RETENTION"
)

// TenantData describes all rows of tenants in this service's own database.
func TenantData(pool *pgxpool.Pool) tenants.Database {
	return tenants.Database{
		Pool: pool,
		Tables: []tenants.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{Name: "custom_fields", Key: []string{"id uuid"}},
			{Name: "team_members", Key: []string{"id uuid"}},
			{Name: "api_keys", Key: []string{"id int"}, Omit: []string{
				"hash", "webhook_secret", "previous_webhook_secret",
			}},
			{Name: "gift_sites", Key: []string{"brand_id uuid"}},
			{Name: "brands", Key: []string{"id uuid"}},
			{Name: "tenants", Rows: "id = $1::uuid", Key: []string{"id uuid"}},
			{Name: "tenant_audit", Key: []string{"id uuid"}, Kept: audited},
			{Name: "person_requests", Key: []string{"id uuid"}, Kept: audited, Omit: []string{"subject_mac", "recipient_sealed"}},
			{Name: "tenant_moves", Key: []string{"tenant_id uuid"}, Hidden: true},
			{Name: "offboardings", Key: []string{"tenant_id uuid"}, Kept: tombstone, Hidden: true},
			{Name: "offboarding_tables", Key: []string{"service text", "table_name text"}, Kept: tombstone, Hidden: true},
			{Name: "offboarding_steps", Key: []string{"id bigint"}, Kept: tombstone, Hidden: true},
		},
		InFlight: []string{`SELECT count(*) FROM person_requests WHERE tenant_id = $1 AND completed_at IS NULL`},
	}
}
