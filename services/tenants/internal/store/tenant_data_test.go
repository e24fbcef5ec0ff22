package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

func TestEveryTableOfTenantsIsErased(t *testing.T) {
	t.Parallel()
	tenantstest.Check(t, store.TenantData(nil), func(t *testing.T, db postgres.Querier, tenantID string, keyID int32) {
		_, err := db.Exec(t.Context(), `INSERT INTO tenants (id, name, locales, currency, approval_required, api_access)
			VALUES ($1, 'same', '{en-US}', 'EUR', false, true)`, tenantID)
		require.NoError(t, err)
		for sql, args := range map[string][]any{
			`INSERT INTO brands (tenant_id, id, name, slug) VALUES ($1, $2, 'same', 'same')`: {tenantID, uuid.NewString()},
			`WITH b AS (INSERT INTO brands (tenant_id, id, name, slug) VALUES ($1, $2, 'site', 'site') RETURNING id)
			 INSERT INTO gift_sites (tenant_id, brand_id, typeface, corners, colour_scheme) SELECT $1, id, 'SERIF', 'SOFT', 'AUTO' FROM b`: {
				tenantID, uuid.NewString(),
			},
			`INSERT INTO team_members (tenant_id, id, name, email, role, active)
			 VALUES ($1, $2, 'same', 'same@example.com', 'MEMBER', true)`: {tenantID, uuid.NewString()},
			`INSERT INTO custom_fields (tenant_id, id, label, type, required, options, position)
			 VALUES ($1, $2, 'same', 'TEXT', false, '{}', 1)`: {tenantID, uuid.NewString()},
			`INSERT INTO api_keys (tenant_id, hash, prefix, name, scopes, all_brands, brand_ids, webhook_secret)
			 VALUES ($1, sha256($2::text::bytea), 'p', 'same', '{}', true, '{}', 's')`: {tenantID, tenantID},
			`INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer) VALUES ($1, 'k', 'f', 'a')`: {keyID},
			`INSERT INTO tenant_audit (id, tenant_id, actor_kind, actor_id, action, subject_id, detail)
			 VALUES (gen_random_uuid(), $1, 'SYSTEM', '', 'PUT_BRAND', 'b', '{}')`: {tenantID},
			`INSERT INTO person_requests (tenant_id, id, action, subject_kind, subject_mac, actor_kind, actor_id,
			   link_ids, order_ids, completed_at)
			 VALUES ($1, gen_random_uuid(), 'EXPORT', 'ORDER', 'm', 'BACKOFFICE_ACCOUNT', 'a',
			   '{}', '{}', CASE WHEN NOT $2 THEN now() END)`: {
				tenantID, keyID == tenantstest.InFlight,
			},
			`INSERT INTO offboardings (tenant_id, state, erase_after, actor_kind, actor_id, api_access, key_ids)
			 VALUES ($1, 'DISABLED', now(), 'SYSTEM', '', true, '{}')`: {tenantID},
			`INSERT INTO offboarding_tables (tenant_id, service, table_name, rows_before, kept)
			 VALUES ($1, 'orders', 'orders', 1, '')`: {tenantID},
			`INSERT INTO offboarding_steps (tenant_id, action, actor_kind, actor_id)
			 VALUES ($1, 'REQUEST', 'SYSTEM', '')`: {tenantID},
		} {
			_, err := db.Exec(t.Context(), sql, args...)
			require.NoError(t, err, sql)
		}
	}, store.Migrations(), daemon.RetentionClockMigrations(), idempotency.Migrations())
}
