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
			{
				Name: "order_messages", Key: []string{"order_id uuid", "seq bigint"}, Omit: []string{"body_bytes"},
				Sealed: sealedMessages().Columns, Text: []string{"body_sealed"},
			},
			{Name: "reservation_outcomes", Key: []string{"order_id uuid"}, Hidden: true},
			{Name: "orders", Key: []string{"id uuid"}, Sealed: sealedOrders().Columns},
			{Name: "sandbox_paces", Key: []string{"order_id uuid"}, Hidden: true},
			{Name: "outbox", Key: []string{"id bigint"}, Hidden: true}, // Last, since only all of it can be read.
			{
				Name: "order_audit", Key: []string{"id uuid"}, Hidden: true,
				Kept: "audit without personal data, deleted after GIFTING_AUDIT_RETENTION",
			},
		},
		InFlight: []string{
			`SELECT count(*) FROM orders WHERE tenant_id = $1 AND status IN ('REQUESTED', 'PROCESSING', 'SENT')`,
			// Changes that the readers have not stored.
			`SELECT count(*) FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL`,
		},
	}
}
