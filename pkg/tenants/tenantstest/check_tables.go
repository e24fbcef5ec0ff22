package tenantstest

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/tenants"
)

// tablesOfTenants leaves out partitions, which are part of their tables.
const tablesOfTenants = `SELECT DISTINCT c.table_name::text FROM information_schema.columns c
JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
  AND (c.column_name = 'tenant_id' OR c.column_name LIKE '%key_id')
  AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = format('%I', c.table_name)::regclass)`

// InFlight is the key of the tenant that has something in flight.
const InFlight = 2

const (
	tenant = "0198f2e4-0000-7000-8000-0000000000a1"
	other  = "0198f2e4-0000-7000-8000-0000000000b2"
)

// Check fails for a table of the migrated database that has a column of tenants or keys and is not in the list, and for a table of
// the list that cannot be counted, exported or erased. Then it erases one of two tenants that have rows with equal values, which
// fill inserts into every table of the list. Of the rows with the key InFlight, one is in flight for every query in db.InFlight,
// and none of the others.
func Check(
	t *testing.T, db tenants.Database,
	fill func(t *testing.T, conn postgres.Querier, tenantID string, keyID int32), migrations ...postgres.Migrations,
) {
	t.Helper()
	db.Pool = pgtest.New(t, migrations...)
	rows, err := db.Pool.Query(t.Context(), tablesOfTenants)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for _, table := range found {
		require.True(t, slices.ContainsFunc(db.Tables, func(known tenants.Table) bool { return known.Name == table }),
			"%s has rows of tenants: say in the list of tables how they are erased or why they are kept", table)
	}
	fill(t, db.Pool, tenant, 1)
	fill(t, db.Pool, other, InFlight)
	one, two := tenants.Tenant{ID: tenant, KeyIDs: []int32{1}}, tenants.Tenant{ID: other, KeyIDs: []int32{InFlight}}
	before := count(t, &db, two)
	for table, n := range count(t, &db, one) {
		require.Equal(t, before[table], n, table)
		require.Positive(t, n, "the test must fill %s", table)
	}
	for _, tenant := range []tenants.Tenant{one, two} {
		_, inFlight, err := db.Count(t.Context(), tenant)
		require.NoError(t, err)
		if tenant.ID == other {
			inFlight -= int64(len(db.InFlight))
		}
		require.Zero(t, inFlight)
	}
	var exported int
	for next, first := "", true; first || next != ""; first = false {
		var page []byte
		page, next, err = db.Export(t.Context(), one, next)
		require.NoError(t, err)
		require.NotContains(t, string(page), other)
		exported += len(page)
	}
	require.Positive(t, exported)
	for range 2 {
		done, err := db.Erase(t.Context(), one)
		require.NoError(t, err)
		require.True(t, done)
		after := count(t, &db, one)
		for _, table := range db.Tables {
			if table.Kept == "" {
				require.Zero(t, after[table.Name], table.Name)
			} else {
				require.Equal(t, before[table.Name], after[table.Name], table.Name)
			}
		}
		require.Equal(t, before, count(t, &db, two), "the other tenant keeps its rows")
	}
}

func count(t *testing.T, db *tenants.Database, tenant tenants.Tenant) map[string]int64 {
	t.Helper()
	tables, _, err := db.Count(t.Context(), tenant)
	require.NoError(t, err)
	counts := map[string]int64{}
	for _, table := range tables {
		counts[table.GetTable()] = table.GetRows()
	}
	return counts
}
