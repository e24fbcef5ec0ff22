// Package pgtest makes fresh, migrated databases for tests on a real PostgreSQL server.
package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
)

// URLVariable names the environment variable with the URL of the server, as a role that may create
// databases. `make test` sets it.
const URLVariable = "GIFTING_TEST_POSTGRES_URL"

// NewURL creates a database with the schema of the migrations and returns its URL. The database is dropped
// when the test ends.
func NewURL(t testing.TB, migrations ...postgres.Migrations) string {
	t.Helper()
	server := os.Getenv(URLVariable)
	require.NotEmpty(t, server, "set %s or run the tests by `make test`", URLVariable)
	suffix := make([]byte, 8)
	_, err := rand.Read(suffix)
	require.NoError(t, err)
	name := "test_" + hex.EncodeToString(suffix)
	create := "CREATE DATABASE " + name
	if len(migrations) > 0 {
		create += " TEMPLATE " + template(t, server, migrations)
	}
	exec(t, server, create)
	t.Cleanup(func() { exec(t, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return inDatabase(t, server, name)
}

// New is NewURL with a pool that closes when the test ends.
func New(t testing.TB, migrations ...postgres.Migrations) *pgxpool.Pool {
	t.Helper()
	u := NewURL(t, migrations...)
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: u})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func exec(t testing.TB, server, sql string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, server)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, sql)
	require.NoError(t, err)
	require.NoError(t, conn.Close(ctx))
}
