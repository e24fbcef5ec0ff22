package sealtest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Ready returns why a service that starts with the ring would not be ready.
func Ready(t testing.TB, pool *pgxpool.Pool, ring seal.CheckedRing) error {
	t.Helper()
	check, err := seal.NewRingCheck(t.Context(), pool, telemetry.Discard(), ring)
	require.NoError(t, err)
	require.NoError(t, check.Run(t.Context()))
	return check.Ready(t.Context())
}

// RowsRead is how many rows of the tables, named by a pattern of LIKE, the check of the ring reads.
func RowsRead(t testing.TB, pool *pgxpool.Pool, ring seal.CheckedRing, tables string) (rows int) {
	t.Helper()
	// Statistics are of a session, which must be the one that checks.
	one, err := postgres.Open(t.Context(), postgres.Config{URL: pool.Config().ConnString(), MaxConns: 1})
	require.NoError(t, err)
	defer one.Close()
	for _, sql := range []string{"VACUUM", "SELECT pg_stat_reset()"} {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	_, err = seal.NewRingCheck(t.Context(), one, telemetry.Discard(), ring)
	require.NoError(t, err)
	_, err = one.Exec(t.Context(), "SELECT pg_stat_force_next_flush()")
	require.NoError(t, err)
	const read = `SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE relname LIKE $1`
	require.NoError(t, one.QueryRow(t.Context(), read, tables).Scan(&rows))
	require.Positive(t, rows)
	return rows
}
