// Package pgtest makes fresh, migrated databases for tests on a real PostgreSQL server.
package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/testenv"
)

// NewURL creates a database with the schema of the migrations and returns its URL. The database is dropped when the test ends.
func NewURL(t testing.TB, migrations ...postgres.Migrations) string {
	t.Helper()
	server := testenv.Require(t, testenv.PostgresURL)
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
	return databaseURL(t, server, name)
}

// WithPoolSetting adds a setting of pools to the URL of a database. Only the parser of pools knows it.
func WithPoolSetting(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	q := u.Query()
	q.Set("pool_max_conns", "4")
	u.RawQuery = q.Encode()
	return u.String()
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

// Backup copies the database of a URL. Nothing may be connected to it. The function it returns restores it: it drops the database
// with all connections to it, and makes it again from the copy.
func Backup(t testing.TB, database string) (restore func()) {
	t.Helper()
	server := testenv.Require(t, testenv.PostgresURL)
	parsed, err := pgx.ParseConfig(database)
	require.NoError(t, err)
	name := parsed.Database
	backup := name + "_backup"
	exec(t, server, "CREATE DATABASE "+backup+" TEMPLATE "+name)
	t.Cleanup(func() { exec(t, server, "DROP DATABASE IF EXISTS "+backup+" WITH (FORCE)") })
	return func() {
		t.Helper()
		exec(t, server, "DROP DATABASE "+name+" WITH (FORCE)")
		exec(t, server, "CREATE DATABASE "+name+" TEMPLATE "+backup)
	}
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
