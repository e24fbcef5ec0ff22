package store_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

func TestEveryTableOfTenantsIsErased(t *testing.T) {
	t.Parallel()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	tenantstest.Check(t, store.TenantData(nil, ring), func(t *testing.T, db postgres.Querier, tenantID string, keyID int32) {
		order, inFlight := uuid.NewString(), keyID == tenantstest.InFlight
		sealed := ring.Seal([]byte(`{"client": {"name": "Ada"}}`), store.SealedColumns()[0].Columns[0].AssociatedData(order))
		insert := func(sql string, args ...any) {
			_, err := db.Exec(t.Context(), sql, args...)
			require.NoError(t, err)
		}
		insert(`INSERT INTO orders (tenant_id, id, reference, external_order_id, source, brand_id, status, item_kind, product_name,
			  budget_amount, budget_currency, delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at)
			VALUES ($1, $2, gen_random_uuid()::text, 'same', 'API', $2, CASE WHEN $4 THEN 'REQUESTED' ELSE 'COMPLETED' END, 'CUSTOM',
			  'Cup', 10, 'SEK', 'SE', false, $3, now(), now())`, tenantID, order, sealed, inFlight)
		insert(`INSERT INTO order_messages (tenant_id, order_id, id, author_kind, author_id, author_name, body_bytes, created_at)
			VALUES ($1, $2, gen_random_uuid(), 'SYSTEM', '', '', 0, now())`, tenantID, order)
		insert(`INSERT INTO reservation_outcomes (tenant_id, order_id, outcome) VALUES ($1, $2, 'RELEASED')`, tenantID, order)
		insert(`INSERT INTO order_audit (id, tenant_id, actor_kind, actor_id, operation)
			VALUES (gen_random_uuid(), $1, 'SYSTEM', '', 'READ')`, tenantID)
		insert(`INSERT INTO sandbox_paces (tenant_id, order_id, every_seconds, stop_at, due_at)
			VALUES ($1, $2, 2, 'SENT', now())`, tenantID, order)
		insert(`INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer) VALUES ($1, 'same', 'f', 'a')`, keyID)
		insert(`INSERT INTO outbox (event_id, tenant_id, brand_id, subject_id, type, occurred_at, data, confirmed_at)
			VALUES (gen_random_uuid(), $1, $1, $1, 'order.requested', now(), '{}', CASE WHEN NOT $2 THEN now() END)`, tenantID, inFlight)
	}, outbox.Migrations(), idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations())
}
