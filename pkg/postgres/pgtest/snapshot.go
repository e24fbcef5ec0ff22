package pgtest

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// HoldSnapshot opens a snapshot of the database until the test ends, as a backup does: no dead row is removed meanwhile.
func HoldSnapshot(t testing.TB, database string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
	_, err = conn.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	require.NoError(t, err)
}

// Pages returns how many pages of a table and its indexes the work reads at least. It runs the work several times, because the
// statistics also count what autovacuum reads. The pool must have one connection, which does the work.
func Pages(t testing.TB, pool *pgxpool.Pool, table string, work func()) int {
	t.Helper()
	total := func() (n int) {
		t.Helper()
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT FROM pg_stat_force_next_flush()").Scan())
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit
  FROM pg_statio_user_tables WHERE relname = $1`, table).Scan(&n))
		return n
	}
	fewest := math.MaxInt
	for range 5 {
		before := total()
		work()
		fewest = min(fewest, total()-before)
	}
	return fewest
}

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
