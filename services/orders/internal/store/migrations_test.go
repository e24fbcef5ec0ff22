package store

import (
	"io"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestAnInterruptedBuildOfAnIndexIsRepeated(t *testing.T) {
	t.Parallel()
	const whole = "00001_orders.sql"
	text, err := fs.ReadFile(Migrations().Files, whole)
	require.NoError(t, err)
	pool := pgtest.New(t)
	cfg := postgres.Config{URL: pool.Config().ConnString()}
	first := postgres.Migrations{Owner: Migrations().Owner, Files: fstest.MapFS{whole: {Data: text}}}
	require.NoError(t, postgres.Migrate(t.Context(), cfg, io.Discard, first))

	for _, interrupted := range []string{
		"CREATE INDEX orders_open ON orders (id)",
		"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'orders_open'::regclass",
	} {
		_, err := pool.Exec(t.Context(), interrupted)
		require.NoError(t, err)
	}
	require.NoError(t, postgres.Migrate(t.Context(), cfg, io.Discard, Migrations()))

	var valid bool
	const selectValid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'orders_open'::regclass"
	require.NoError(t, pool.QueryRow(t.Context(), selectValid).Scan(&valid))
	require.True(t, valid)
}
