package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/eventseal"
	"github.com/partnergifting/platform/pkg/eventseal/eventsealtest"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/ringcheck"
	"github.com/partnergifting/platform/pkg/ringcheck/ringchecktest"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func eventKeys(t *testing.T, ids ...string) ringcheck.Ring {
	t.Helper()
	ring, err := eventsealtest.Keys(ids...).Parse()
	require.NoError(t, err)
	return ringcheck.EventKeys(ring, store.Sealed())
}

func TestDeliveriesNeedTheKeysOfTheirEvents(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, store.Migrations())
	at := eventseal.Place{TenantID: uuid.NewString(), EventID: uuid.NewString()}
	sealed, plain := eventsealtest.Message(t, eventsealtest.Writer(t, eventsealtest.Keys("a")), at, "x")
	insert := func(eventID string, body []byte) {
		_, err := pool.Exec(t.Context(), `INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
VALUES ($1, $2, 'order.message_added', $1, $2, $3, now())`,
			at.TenantID, eventID, body)
		require.NoError(t, err)
	}
	insert(uuid.NewString(), plain)
	require.NoError(t, ringchecktest.Ready(t, pool, eventKeys(t, "b")))
	insert(at.EventID, append(append([]byte(`{"data":`), sealed...), '}'))
	require.ErrorIs(t, ringchecktest.Ready(t, pool, eventKeys(t, "b")), ringcheck.ErrMissing)
	require.NoError(t, ringchecktest.Ready(t, pool, eventKeys(t, "b", "a")))

	_, err := pool.Exec(t.Context(), `INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
SELECT $1, gen_random_uuid(), 'order.message_added', $1, $1, $2, now() FROM generate_series(1, 20000)`, at.TenantID, sealed)
	require.NoError(t, err)
	require.Less(t, ringchecktest.RowsRead(t, pool, eventKeys(t, "a"), "events"), 100)
}
