package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
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
			`INSERT INTO moving_tenants VALUES ($1) ON CONFLICT DO NOTHING`:        {tenantID},

			`INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer) VALUES ($1, 'same', 'f', 'a')`: {keyID},
		} {
			pgtest.Exec(t, db, sql, args...)
		}
	}, idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations())
}

func eventKeys(t *testing.T, ids ...string) seal.CheckedRing {
	t.Helper()
	ring, err := sealtest.Keys(ids...).Parse()
	require.NoError(t, err)
	return seal.CheckedEventRing(ring, store.Sealed())
}

func TestDeliveriesNeedTheKeysOfTheirEvents(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, store.Migrations())
	ref := seal.EventRef{TenantID: uuid.NewString(), EventID: uuid.NewString()}
	sealed, plain := sealtest.Message(t, sealtest.Writer(t, sealtest.Keys("a")), ref, "x")
	insert := func(eventID string, body []byte) {
		pgtest.Exec(t, pool, `INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
VALUES ($1, $2, 'order.message_added', $1, $2, $3, now())`,
			ref.TenantID, eventID, body)
	}
	insert(uuid.NewString(), plain)
	require.NoError(t, sealtest.Ready(t, pool, eventKeys(t, "b")))
	insert(ref.EventID, append(append([]byte(`{"data":`), sealed...), '}'))
	require.ErrorIs(t, sealtest.Ready(t, pool, eventKeys(t, "b")), seal.ErrKeyMissing)
	require.NoError(t, sealtest.Ready(t, pool, eventKeys(t, "b", "a")))

	pgtest.Exec(t, pool, `INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
SELECT $1, gen_random_uuid(), 'order.message_added', $1, $1, $2, now() FROM generate_series(1, 20000)`, ref.TenantID, sealed)
	require.Less(t, sealtest.RowsRead(t, pool, eventKeys(t, "a"), "events"), 100)
}
