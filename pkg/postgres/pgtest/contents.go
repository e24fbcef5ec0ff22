package pgtest

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// Contents describes all rows of all tables of the database, so that a test can show that nothing has been written.
func Contents(t *testing.T, pool *pgxpool.Pool) map[string]string {
	t.Helper()
	rows, err := pool.Query(t.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	contents := map[string]string{}
	for _, table := range tables {
		var number int
		var digest string
		require.NoError(t, pool.QueryRow(t.Context(), fmt.Sprintf(
			"SELECT count(*), coalesce(md5(string_agg(x::text, ' ' ORDER BY x::text)), '') FROM %s x", pgx.Identifier{table}.Sanitize(),
		)).Scan(&number, &digest))
		contents[table] = fmt.Sprint(number, " rows ", digest)
	}
	return contents
}
