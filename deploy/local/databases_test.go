package local

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/testenv"
)

func setupDatabases(t *testing.T) *databases {
	t.Helper()
	server := testenv.Require(t, testenv.PostgresURL)
	suffix := make([]byte, 6)
	_, err := rand.Read(suffix)
	require.NoError(t, err)
	d, err := newDatabases(server, nil, "local_"+hex.EncodeToString(suffix), rand.Text())
	require.NoError(t, err)
	t.Cleanup(func() { drop(t, d) })
	require.NoError(t, d.create(t.Context()))
	for _, db := range []string{"orders", "links"} {
		require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: d.url(db)}, io.Discard, outbox.Migrations()))
	}
	require.NoError(t, d.admitRelay(t.Context()))
	return d
}

func drop(t *testing.T, d *databases) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, d.server.String())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	for _, db := range Databases(d.name) {
		_, err := conn.Exec(ctx, "DROP DATABASE "+db+" WITH (FORCE)")
		require.NoError(t, err)
	}
	_, err = conn.Exec(ctx, "DROP ROLE "+RelayRole(d.name))
	require.NoError(t, err)
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func requireForbidden(t *testing.T, err error) {
	t.Helper()
	var found *pgconn.PgError
	require.ErrorAs(t, err, &found)
	require.Equal(t, "42501", found.Code, found.Message)
}

func TestRelayLogin(t *testing.T) {
	t.Parallel()
	d := setupDatabases(t)
	owner := connect(t, d.url("orders"))
	_, err := owner.Exec(t.Context(), "CREATE TABLE orders (id int)")
	require.NoError(t, err)
	relay := connect(t, d.relayURL("orders"))

	t.Run("may read and empty the outbox", func(t *testing.T) {
		_, err := relay.Exec(t.Context(), "SELECT id FROM outbox")
		require.NoError(t, err)
		_, err = relay.Exec(t.Context(), "DELETE FROM outbox")
		require.NoError(t, err)
		connect(t, d.relayURL("links"))
	})
	t.Run("may do nothing else there", func(t *testing.T) {
		for _, statement := range []string{
			"SELECT id FROM orders",
			"UPDATE outbox SET type = 'x'",
			"TRUNCATE outbox",
			"CREATE TABLE own (id int)",
			"CREATE TEMPORARY TABLE own (id int)",
			"CREATE ROLE other",
		} {
			_, err := relay.Exec(t.Context(), statement)
			requireForbidden(t, err)
		}
	})
	t.Run("may not enter the other databases", func(t *testing.T) {
		for _, db := range []string{"tenants", "catalog", "events", "webhook"} {
			_, err := pgx.Connect(t.Context(), d.relayURL(db))
			requireForbidden(t, err)
		}
	})
	t.Run("is updated with a new password", func(t *testing.T) {
		require.NoError(t, d.create(t.Context()))
		d.password = rand.Text()
		require.NoError(t, d.admitRelay(t.Context()))
		connect(t, d.relayURL("orders"))
	})
}
