package tenants_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/tenants"
)

func TestSealedEventsAreExportedInClear(t *testing.T) {
	t.Parallel()
	pool, keys := pgtest.New(t), sealtest.Keys("a")
	at := seal.EventPlace{TenantID: tenantID, EventID: uuid.NewString()}
	sealed, _ := sealtest.Message(t, sealtest.Writer(t, keys), at, "Happy birthday")
	_, err := pool.Exec(t.Context(), "CREATE TABLE feed (tenant_id uuid, event_id uuid, data bytea)")
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "INSERT INTO feed VALUES ($1, $2, $3)", at.TenantID, at.EventID, sealed)
	require.NoError(t, err)
	db := &tenants.Database{
		Pool: pool, Events: sealtest.Reader(t, keys),
		Tables: []tenants.Table{{Name: "feed", Key: []string{"event_id uuid"}, Bytes: []string{"data"}, Events: true}},
	}
	lines, _, err := db.Export(t.Context(), tenants.Tenant{ID: tenantID}, "")
	require.NoError(t, err)
	require.Contains(t, string(lines), `"body":"Happy birthday"`)

	db.Events = sealtest.Reader(t, sealtest.Keys("b"))
	_, _, err = db.Export(t.Context(), tenants.Tenant{ID: tenantID}, "")
	require.ErrorIs(t, err, seal.ErrEventUnreadable, "an export without the text would not be complete")
}
