package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func TestEveryTableOfTenantsIsErased(t *testing.T) {
	t.Parallel()
	tenantstest.Check(t, store.TenantData(nil, nil), func(t *testing.T, db postgres.Querier, tenantID string, keyID int32) {
		const event = "a198f2e4-0000-7000-8000-000000000001"
		for sql, args := range map[string][]any{
			`INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
			 VALUES ($1, $2, 'order.requested', $1, $2, '{}', now())`: {tenantID, event},
			`INSERT INTO deliveries (tenant_id, event_id, key_id, created_at, next_attempt_at) VALUES ($1, $2, $3, now(), now())`: {
				tenantID, event, keyID,
			},
			`INSERT INTO attempts (tenant_id, event_id, key_id, number, started_at, duration_ms, response_body)
			 VALUES ($1, $2, $3, 1, now(), 5, '\xff00')`: {tenantID, event, keyID},
			`INSERT INTO pauses (tenant_id, key_id, until) VALUES ($1, $2, now())`: {tenantID, keyID},

			`INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer) VALUES ($1, 'same', 'f', 'a')`: {keyID},
		} {
			_, err := db.Exec(t.Context(), sql, args...)
			require.NoError(t, err)
		}
	}, idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations())
}
