package postgres_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestWhatIsReadDecidesWhatIsWritten(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, table())
	n := 0
	read := func(b *pgx.Batch) {
		b.Queue("SELECT n FROM counter WHERE id = 1 FOR UPDATE").QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
	}
	write := func(b *pgx.Batch) { b.Queue("UPDATE counter SET n = $1 WHERE id = 1", n+1) }
	decide := func() (func(b *pgx.Batch), error) { return write, nil }
	require.NoError(t, postgres.ReadThenWrite(t.Context(), pool, read, decide))
	require.NoError(t, postgres.ReadThenWrite(t.Context(), pool, read, decide))
	require.NoError(t, postgres.ReadThenWrite(t.Context(), pool, read, func() (func(b *pgx.Batch), error) { return nil, nil }))
	require.Equal(t, 2, n)

	failure := errors.New("no")
	before := pool.Stat().NewConnsCount()
	for range 20 {
		require.ErrorIs(t, postgres.ReadThenWrite(t.Context(), pool, read, func() (func(b *pgx.Batch), error) { return write, failure }), failure)
		require.ErrorIs(t, postgres.ReadThenWrite(t.Context(), pool, func(b *pgx.Batch) {
			b.Queue("SELECT 1").QueryRow(func(pgx.Row) error { return failure })
		}, decide), failure)
		require.Error(t, postgres.ReadThenWrite(t.Context(), pool, read, func() (func(b *pgx.Batch), error) {
			return func(b *pgx.Batch) { write(b); b.Queue("INSERT INTO counter VALUES (1, 0)") }, nil
		}))
	}
	require.LessOrEqual(t, pool.Stat().NewConnsCount(), before+2, "connections are used again")
	require.NoError(t, postgres.ReadThenWrite(t.Context(), pool, read, decide))
	require.Equal(t, 2, n, "what failed was undone")
}
