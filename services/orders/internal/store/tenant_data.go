package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenantdata"
)

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, ring *seal.Ring) tenantdata.Database {
	return tenantdata.Database{
		Pool: pool, Ring: ring,
		Tables: []tenantdata.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{Name: "outbox", Key: []string{"id bigint"}, Hidden: true},
			{Name: "order_messages", Key: []string{"seq bigint"}},
			// They name only orders, so they are erased before the orders.
			{
				Name: "reservation_outcomes", Key: []string{"order_id uuid"}, Hidden: true,
				Rows: "order_id IN (SELECT unnest(ARRAY[id, stock_hold_id]) FROM orders WHERE tenant_id = $1::uuid)",
			},
			{Name: "orders", Key: []string{"id uuid"}, Sealed: SealedColumns().Columns},
			{Name: "order_audit", Key: []string{"id uuid"}, Kept: "audit without personal data, deleted after GIFTING_AUDIT_RETENTION", Hidden: true},
		},
		InFlight: []string{
			`SELECT count(*) FROM orders WHERE tenant_id = $1 AND status IN ('REQUESTED', 'PROCESSING', 'SENT')`,
			// Changes that the readers have not stored.
			`SELECT count(*) FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL`,
		},
	}
}
