package migrations_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
)

// Why tables have no tenant_id.
const (
	shared  = "all tenants share it"
	byKey   = "the ids of API keys are unique over all installations, and a tenant's rows are those of its keys"
	partOf  = "how far a partition of the topic has been read"
	ofState = "the state of the database itself"
)

// withoutTenant lists the tables without tenant_id, in the databases of all programs.
var withoutTenant = map[string]map[string]string{
	"catalog": {
		"categories": shared, "exchange_rates": shared, "image_renditions": shared, "images": shared, "product_prices": shared,
		"products": shared, "region_countries": shared, "regions": shared, "subcategories": shared,
		"idempotency_answers": byKey, "retention_clock": ofState,
	},
	"events": {"feed_writers": partOf, "feed_topic": partOf, "feed_epochs": ofState, "retention_clock": ofState},
	"links":  {"idempotency_answers": byKey, "retention_clock": ofState},
	"orders": {"idempotency_answers": byKey, "retention_clock": ofState},
	"tenants": {
		"tenants": "its id is the tenant's", "idempotency_answers": byKey, "database_server": ofState, "retention_clock": ofState,
	},
	"webhook": {
		"fan_out_offsets": partOf, "rejected_messages": "they belong to no tenant", "senders": "a sender serves all tenants",
		"idempotency_answers": byKey, "retention_clock": ofState,
	},
}

// selectTenantKeys reads each table of a database, whether it has tenant_id, and whether its primary key or replica identity has
// it.
const selectTenantKeys = `SELECT c.relname, a.attnum IS NOT NULL,
  a.attnum IS NOT NULL AND (c.relreplident = 'f' OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid
    AND (i.indisprimary AND c.relreplident = 'd' OR i.indisreplident) AND a.attnum = ANY (i.indkey)))
FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname !~ '^migrations_'`

// Logical replication copies the rows of one tenant, and follows their changes, only if tenant_id is in the primary key or the
// replica identity. A table with neither also refuses every UPDATE and DELETE while it is published.
func TestEveryRowOfATenantIsNamedByIt(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, p programs.Program, env map[string]string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), env["GIFTING_DATABASE_URL"])
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(t.Context())) }()
		rows, err := conn.Query(t.Context(), selectTenantKeys)
		require.NoError(t, err)
		var without []string
		var table string
		var hasTenant, named bool
		_, err = pgx.ForEachRow(rows, []any{&table, &hasTenant, &named}, func() error {
			if !hasTenant {
				without = append(without, table)
			}
			require.Equal(t, hasTenant, named, "%s: neither its primary key nor its replica identity has tenant_id", table)
			return nil
		})
		require.NoError(t, err)
		expected := slices.Collect(maps.Keys(withoutTenant[p.Database]))
		require.ElementsMatch(t, expected, without, "give the table tenant_id, or a reason here")
	})
}
