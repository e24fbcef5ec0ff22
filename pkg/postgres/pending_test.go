package postgres_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestPendingNamesWhatHasNotRunAndChangesNothing(t *testing.T) {
	t.Parallel()
	first := &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE a (id int);\n")}
	second := &fstest.MapFile{Data: []byte("-- +goose Up\nALTER TABLE a ADD COLUMN b int;\n")}
	old := postgres.Migrations{Owner: "example", Files: fstest.MapFS{"00001_a.sql": first}}
	today := postgres.Migrations{Owner: "example", Files: fstest.MapFS{"00001_a.sql": first, "00002_b.sql": second}}
	url := pgtest.NewURL(t)
	pending := func(m postgres.Migrations) []string {
		found, err := postgres.Pending(t.Context(), url, m)
		require.NoError(t, err)
		return found
	}

	require.Equal(t, []string{"example/00001_a.sql", "example/00002_b.sql"}, pending(today))
	require.NoError(t, postgres.Migrate(t.Context(), url, old))
	require.Equal(t, []string{"example/00002_b.sql"}, pending(today))
	require.Equal(t, []string{"example/00002_b.sql"}, pending(today), "asking changes nothing")
	require.Empty(t, pending(old))
	require.NoError(t, postgres.Migrate(t.Context(), url, today))
	require.Empty(t, pending(today))
	require.Empty(t, pending(old), "the version before runs on the new schema")

	_, err := postgres.Pending(t.Context(), "postgres://127.0.0.1:1/none", today)
	require.Error(t, err)
}
