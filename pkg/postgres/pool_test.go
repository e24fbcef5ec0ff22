package postgres_test

import (
	"io"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func TestOptionsOfAServiceHoldForItsStatements(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	pool, err := postgres.OpenObserved(t.Context(), postgres.Config{URL: pgtest.NewURL(t, table())}, tel.Telemetry,
		postgres.ByIndex, postgres.PlanOnce)
	require.NoError(t, err)
	defer pool.Close()
	for setting, wanted := range map[string]string{
		"enable_seqscan": "off", "enable_bitmapscan": "off", "plan_cache_mode": "force_generic_plan", "jit": "off",
	} {
		var is string
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&is))
		require.Equal(t, wanted, is, setting)
	}
}

func TestADatabaseURLIsRefusedWithoutItsPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hunter2@h:none/db", "postgres://u:hunter2@h/db?sslmode=hunter2", "mysql://u:hunter2@h/db",
	} {
		t.Setenv("GIFTING_DATABASE_URL", url)
		err := settings.Load(&postgres.Config{})
		require.ErrorContains(t, err, "GIFTING_DATABASE_URL: ")
		require.NotContains(t, err.Error(), "hunter2")
	}
	t.Setenv("GIFTING_DATABASE_URL", "postgres://u:p@h1:5432,h2:5432/db?sslmode=disable&pool_max_conns=4")
	require.NoError(t, settings.Load(&postgres.Config{}))
}

func TestCompareListsMigrationsThatHaveNotRunAndChangesNothing(t *testing.T) {
	t.Parallel()
	first := &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE a (id int);\n")}
	second := &fstest.MapFile{Data: []byte("-- +goose Up\nALTER TABLE a ADD COLUMN b int;\n")}
	old := postgres.Migrations{Owner: "example", Files: fstest.MapFS{"00001_a.sql": first}}
	today := postgres.Migrations{Owner: "example", Files: fstest.MapFS{"00001_a.sql": first, "00002_b.sql": second}}
	url := pgtest.WithPoolSetting(t, pgtest.NewURL(t))
	pending := func(m postgres.Migrations) []string {
		found, err := postgres.Compare(t.Context(), url, m)
		require.NoError(t, err)
		return found.Pending
	}

	require.Equal(t, []string{"example/00001_a.sql", "example/00002_b.sql"}, pending(today))
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: url}, io.Discard, old))
	require.Equal(t, []string{"example/00002_b.sql"}, pending(today))
	require.Equal(t, []string{"example/00002_b.sql"}, pending(today), "asking changes nothing")
	require.Empty(t, pending(old))
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: url}, io.Discard, today))
	require.Empty(t, pending(today))
	require.Empty(t, pending(old), "the version before runs on the new schema")
	ahead, err := postgres.Compare(t.Context(), url, old)
	require.NoError(t, err)
	require.Equal(t, postgres.Difference{Ahead: []string{"example/2"}}, ahead)

	_, err = postgres.Compare(t.Context(), "postgres://127.0.0.1:1/none", today)
	require.Error(t, err)
}
