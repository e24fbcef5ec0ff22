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
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

func TestEveryTableOfTenantsIsErased(t *testing.T) {
	t.Parallel()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	tenantstest.Check(t, store.TenantData(nil, ring), func(t *testing.T, db postgres.Querier, tenantID string, keyID int32) {
		link, inFlight := uuid.NewString(), keyID == tenantstest.InFlight
		url := ring.Seal([]byte("https://gifts.example.com/c/token"), store.SealedColumns()[0].Columns[0].AssociatedData(link))
		insert := func(sql string, args ...any) {
			_, err := db.Exec(t.Context(), sql, args...)
			require.NoError(t, err)
		}
		insert(`INSERT INTO links (tenant_id, id, brand_id, batch_id, batch_index, external_recipient_id, status, claim_url_sealed,
			  created_at, updated_at, claim_order_id, claim_lease_until)
			VALUES ($1, $2, $1, $1, 0, 'same', 'ACTIVE', $3, now(), now(), CASE WHEN $4 THEN $2::uuid END,
			  CASE WHEN $4 THEN now() END)`, tenantID, link, url, inFlight)
		insert(`INSERT INTO link_batches (tenant_id, id, product_ids, key_id, key_name, created_at)
			VALUES ($1, 'a198f2e4-0000-7000-8000-000000000001', '{}', $2, 'Shop', now())`, tenantID, keyID)
		insert(`INSERT INTO form_drafts (tenant_id, id, link_id, nonce_hash, draft_sealed, expires_at)
			VALUES ($1, 'a198f2e4-0000-7000-8000-000000000003', $2, sha256('n'), 's', now())`, tenantID, link)
		insert(`INSERT INTO sandbox_claims (tenant_id, link_id, pace, due_at)
			VALUES ($1, 'a198f2e4-0000-7000-8000-000000000002', '2s', now())`, tenantID)
		insert(`INSERT INTO link_audit (tenant_id, link_id, action, actor_kind, actor_id, at)
			VALUES ($1, $1, 'APPROVED', 'SYSTEM', '', now())`, tenantID)
		insert(`INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer) VALUES ($1, 'same', 'f', 'a')`, keyID)
		insert(`INSERT INTO outbox (event_id, tenant_id, brand_id, subject_id, type, occurred_at, data, confirmed_at)
			VALUES (gen_random_uuid(), $1, $1, $1, 'personal_link.created', now(), '{}', CASE WHEN NOT $2 THEN now() END)`,
			tenantID, inFlight)
	}, store.Migrations(), outbox.Migrations(), idempotency.Migrations(), daemon.RetentionClockMigrations())
}
