package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

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
		_, err := pool.Exec(t.Context(), `INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
VALUES ($1, $2, 'order.message_added', $1, $2, $3, now())`,
			ref.TenantID, eventID, body)
		require.NoError(t, err)
	}
	insert(uuid.NewString(), plain)
	require.NoError(t, sealtest.Ready(t, pool, eventKeys(t, "b")))
	insert(ref.EventID, append(append([]byte(`{"data":`), sealed...), '}'))
	require.ErrorIs(t, sealtest.Ready(t, pool, eventKeys(t, "b")), seal.ErrKeyMissing)
	require.NoError(t, sealtest.Ready(t, pool, eventKeys(t, "b", "a")))

	_, err := pool.Exec(t.Context(), `INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
SELECT $1, gen_random_uuid(), 'order.message_added', $1, $1, $2, now() FROM generate_series(1, 20000)`, ref.TenantID, sealed)
	require.NoError(t, err)
	require.Less(t, sealtest.RowsRead(t, pool, eventKeys(t, "a"), "events"), 100)
}
