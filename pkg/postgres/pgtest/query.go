package pgtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
)

// Exec runs a statement, which must succeed.
func Exec(t testing.TB, db postgres.Querier, sql string, args ...any) {
	t.Helper()
	_, err := db.Exec(t.Context(), sql, args...)
	require.NoError(t, err, sql)
}

// Value is the value that a query returns in its only row.
func Value[T any](t testing.TB, db postgres.Querier, sql string, args ...any) (value T) {
	t.Helper()
	require.NoError(t, db.QueryRow(t.Context(), sql, args...).Scan(&value), sql)
	return value
}

// AwaitLock waits until a statement in the database waits for a lock.
func AwaitLock(t testing.TB, db postgres.Querier) {
	t.Helper()
	const waiting = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`
	require.Eventually(t, func() bool {
		var waits bool
		return db.QueryRow(t.Context(), waiting).Scan(&waits) == nil && waits
	}, 30*time.Second, time.Millisecond)
}
