// Package bootstraptest removes what bootstrap made on the servers of the tests.
package bootstraptest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Drop removes all databases and roles whose names begin with the prefix, which must not be empty.
func Drop(t testing.TB, admin, prefix string) {
	t.Helper()
	require.NotEmpty(t, prefix)
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, admin)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	for _, query := range []string{
		"SELECT 'DROP DATABASE ' || quote_ident(datname) || ' WITH (FORCE)' FROM pg_database WHERE starts_with(datname, $1)",
		"SELECT 'DROP OWNED BY ' || quote_ident(rolname) FROM pg_roles WHERE starts_with(rolname, $1)",
		"SELECT 'DROP ROLE ' || quote_ident(rolname) FROM pg_roles WHERE starts_with(rolname, $1)",
	} {
		rows, err := conn.Query(ctx, query, prefix)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		for _, statement := range found {
			_, err := conn.Exec(ctx, statement)
			require.NoError(t, err)
		}
	}
}
