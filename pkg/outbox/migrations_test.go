package outbox_test

import (
	"context"
	"crypto/rand"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/testenv"
)

// withRole returns the migrations with another name for the relay's role, which other tests have made long ago.
func withRole(t *testing.T, role string) postgres.Migrations {
	t.Helper()
	migrations := outbox.Migrations()
	files, err := fs.Glob(migrations.Files, "*.sql")
	require.NoError(t, err)
	renamed := fstest.MapFS{}
	for _, name := range files {
		content, err := fs.ReadFile(migrations.Files, name)
		require.NoError(t, err)
		renamed[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(content), "gifting_relay", role))}
	}
	migrations.Files = renamed
	return migrations
}

func TestAMigrationThatMayNotCreateTheRoleOfTheRelayNamesIt(t *testing.T) {
	t.Parallel()
	suffix := strings.ToLower(rand.Text()[:10])
	owner, group := "owner_"+suffix, "relay_"+suffix
	address, err := url.Parse(pgtest.NewURL(t))
	require.NoError(t, err)
	database := strings.TrimPrefix(address.Path, "/")
	admin, err := pgx.Connect(t.Context(), testenv.Require(t, testenv.PostgresURL))
	require.NoError(t, err)
	exec := func(statements ...string) {
		for _, statement := range statements {
			_, err := admin.Exec(context.WithoutCancel(t.Context()), statement)
			require.NoError(t, err, statement)
		}
	}
	t.Cleanup(func() {
		exec("DROP DATABASE "+database+" WITH (FORCE)", "DROP ROLE "+owner, "DROP ROLE IF EXISTS "+group)
		require.NoError(t, admin.Close(context.WithoutCancel(t.Context())))
	})
	password := rand.Text()
	exec("CREATE ROLE "+owner+" LOGIN PASSWORD '"+password+"'", "ALTER DATABASE "+database+" OWNER TO "+owner)
	address.User = url.UserPassword(owner, password)

	err = postgres.Migrate(t.Context(), postgres.Config{URL: address.String()}, io.Discard, withRole(t, group))
	require.ErrorContains(t, err, "the role "+group+" is missing, and "+owner+" may not create it")
	exec("CREATE ROLE " + group + " NOLOGIN")
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: address.String()}, io.Discard, withRole(t, group)))
}
