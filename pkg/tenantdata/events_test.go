package tenantdata_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/eventseal"
	"github.com/partnergifting/platform/pkg/eventseal/eventsealtest"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/tenantdata"
)

func TestSealedEventsAreExportedInClear(t *testing.T) {
	t.Parallel()
	pool, keys := pgtest.New(t), eventsealtest.Keys("a")
	at := eventseal.Place{TenantID: tenantID, EventID: uuid.NewString()}
	sealed, _ := eventsealtest.Message(t, eventsealtest.Writer(t, keys), at, "Happy birthday")
	_, err := pool.Exec(t.Context(), "CREATE TABLE feed (tenant_id uuid, event_id uuid, data bytea)")
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "INSERT INTO feed VALUES ($1, $2, $3)", at.TenantID, at.EventID, sealed)
	require.NoError(t, err)
	db := &tenantdata.Database{
		Pool: pool, Events: eventsealtest.Reader(t, keys),
		Tables: []tenantdata.Table{{Name: "feed", Key: []string{"event_id uuid"}, Bytes: []string{"data"}, Events: true}},
	}
	lines, _, err := db.Export(t.Context(), tenantdata.Tenant{ID: tenantID}, "")
	require.NoError(t, err)
	require.Contains(t, string(lines), `"body":"Happy birthday"`)

	db.Events = eventsealtest.Reader(t, eventsealtest.Keys("b"))
	_, _, err = db.Export(t.Context(), tenantdata.Tenant{ID: tenantID}, "")
	require.ErrorIs(t, err, eventseal.ErrUnreadable, "an export without the text would not be complete")
}
