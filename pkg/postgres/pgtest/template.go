package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
)

// templates is the advisory lock under which a template is made.
const templates = 0x67696674_74657374

// template returns the name of a migrated database from which tests copy theirs, which is much faster than migrating. The first
// process that needs it makes it, once per schema and server. It is never dropped.
func template(t testing.TB, server string, migrations []postgres.Migrations) string {
	t.Helper()
	name := "template_" + digest(t, migrations)
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, server)
	require.NoError(t, err)
	// Closing the connection releases the lock.
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	if made(t, conn, name) {
		return name
	}
	_, err = conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(templates))
	require.NoError(t, err)
	if made(t, conn, name) {
		return name
	}
	// Renamed when it is complete: an incomplete template is made again.
	draft := name + "_draft"
	_, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+draft+" WITH (FORCE)")
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "CREATE DATABASE "+draft)
	require.NoError(t, err)
	require.NoError(t, postgres.Migrate(ctx, postgres.Config{URL: databaseURL(t, server, draft)}, io.Discard, migrations...))
	_, err = conn.Exec(ctx, "ALTER DATABASE "+draft+" RENAME TO "+name)
	require.NoError(t, err)
	return name
}

func made(t testing.TB, conn *pgx.Conn, name string) (exists bool) {
	t.Helper()
	err := conn.QueryRow(context.WithoutCancel(t.Context()),
		"SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists)
	require.NoError(t, err)
	return exists
}

// digest names a schema by the contents of its migrations.
func digest(t testing.TB, migrations []postgres.Migrations) string {
	t.Helper()
	h := sha256.New()
	for _, m := range migrations {
		_, _ = io.WriteString(h, m.Owner+"\x00")
		require.NoError(t, fs.WalkDir(m.Files, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(m.Files, path)
			_, _ = io.WriteString(h, path+"\x00"+string(content)+"\x00")
			return err
		}))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// databaseURL returns the server's URL with another database.
func databaseURL(t testing.TB, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}
