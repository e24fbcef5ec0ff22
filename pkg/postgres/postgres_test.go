package postgres_test

import (
	"errors"
	"io"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func table() postgres.Migrations {
	return postgres.Migrations{Owner: "test", Files: fstest.MapFS{"00001_counter.sql": {Data: []byte(`-- +goose Up
CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL CONSTRAINT counter_small CHECK (n < 100));
INSERT INTO counter VALUES (1, 0);`)}}}
}

func TestAPipelineCommitsAllOrNothing(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, table())
	read := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT n FROM counter WHERE id = 1").Scan(&n))
		return n
	}
	bump := func(b *pgx.Batch) { b.Queue("UPDATE counter SET n = n + 1 WHERE id = 1") }
	require.NoError(t, postgres.Pipeline(t.Context(), pool, bump))
	require.Equal(t, 1, read())

	err := postgres.Pipeline(t.Context(), pool, func(b *pgx.Batch) {
		bump(b)
		b.Queue("INSERT INTO counter VALUES (1, 0)")
	})
	constraint, ok := postgres.UniqueViolation(err)
	require.True(t, ok)
	require.Equal(t, "counter_pkey", constraint)
	require.Equal(t, 1, read())

	t.Run("the connection of a failed pipeline is used again", func(t *testing.T) {
		before := pool.Stat().NewConnsCount()
		for range 20 {
			require.Error(t, postgres.Pipeline(t.Context(), pool, func(b *pgx.Batch) { b.Queue("INSERT INTO counter VALUES (1, 0)") }))
		}
		require.LessOrEqual(t, pool.Stat().NewConnsCount(), before+2)
	})
}

func TestSerializationFailuresRunTheWorkAgain(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, table())
	var group errgroup.Group
	const writers = 4
	for range writers {
		group.Go(func() error {
			return postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"); err != nil {
					return err
				}
				var n int
				if err := tx.QueryRow(t.Context(), "SELECT n FROM counter WHERE id = 1").Scan(&n); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), "UPDATE counter SET n = $1 WHERE id = 1", n+1)
				return err
			})
		})
	}
	require.NoError(t, group.Wait())
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT n FROM counter WHERE id = 1").Scan(&n))
	require.Equal(t, writers, n)
}

func TestMigrationsRunOnceUnderConcurrency(t *testing.T) {
	t.Parallel()
	url := pgtest.NewURL(t)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error { return postgres.Migrate(t.Context(), postgres.Config{URL: url}, io.Discard, table()) })
	}
	require.NoError(t, group.Wait())
}

func TestAnUnavailableDatabaseIsDistinguishedFromARefusedStatement(t *testing.T) {
	t.Parallel()
	require.True(t, postgres.Unavailable(&pgconn.PgError{Code: "57P01"}))
	require.False(t, postgres.Unavailable(&pgconn.PgError{Code: "23505"}))
	require.False(t, postgres.Unavailable(errors.New("a bug")))
	pool := pgtest.New(t)
	_, err := pool.Exec(t.Context(), "SELECT pg_terminate_backend(pg_backend_pid())")
	require.True(t, postgres.Unavailable(err), "%v", err)
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	require.NoError(t, conn.Conn().PgConn().Conn().Close(), "the network is cut")
	_, err = conn.Exec(t.Context(), "SELECT 1")
	require.True(t, postgres.Unavailable(err), "%v", err)
	_, err = conn.Exec(t.Context(), "SELECT 1")
	require.True(t, postgres.Unavailable(err), "%v", err)
	conn.Release()
	_, err = postgres.Open(t.Context(), postgres.Config{URL: "postgres://nobody@127.0.0.1:1/x"})
	require.True(t, postgres.Unavailable(err))
	missing := pool.Config().ConnConfig.Copy()
	missing.Database = "being_restored"
	_, err = pgx.ConnectConfig(t.Context(), missing)
	require.True(t, postgres.Unavailable(err), "%v", err)
	_, err = pool.Exec(t.Context(), "START TRANSACTION READ ONLY; CREATE TABLE t ()")
	require.True(t, postgres.Unavailable(err), "a replica that is not promoted yet: %v", err)
}

func TestReadThenWriteWritesWhatTheReadRowsDecide(t *testing.T) {
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
		fail := func() (func(b *pgx.Batch), error) { return write, failure }
		require.ErrorIs(t, postgres.ReadThenWrite(t.Context(), pool, read, fail), failure)
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

func TestWhereNumbersItsArguments(t *testing.T) {
	t.Parallel()
	brand, size := "b", 7
	var w postgres.Where
	require.Equal(t, "true", w.SQL())
	require.Empty(t, w.Args())

	w.And("tenant_id = ?", "t")
	w.And("cancelled_at IS NULL")
	w.Equal("brand_id", &brand)
	w.Equal("campaign_id", nil)
	postgres.Equal(&w, "size", &size)
	w.And("(created_at, id) < (?, ?)", 1, 2)
	limit := w.Arg(100)
	const where = "tenant_id = $1 AND cancelled_at IS NULL AND brand_id = $2 AND size = $3 AND (created_at, id) < ($4, $5)"
	require.Equal(t, where, w.SQL())
	require.Equal(t, "$6", limit)
	require.Equal(t, []any{"t", "b", 7, 1, 2, 100}, w.Args())
}

func TestWhereRefusesAConditionWithAnotherNumberOfValues(t *testing.T) {
	t.Parallel()
	var w postgres.Where
	require.Panics(t, func() { w.And("a = ?") })
	require.Panics(t, func() { w.And("a = ?", 1, 2) })
}

func TestNullableAndValueAreInverse(t *testing.T) {
	t.Parallel()
	require.Nil(t, postgres.Nullable(""))
	require.Equal(t, "x", *postgres.Nullable("x"))
	require.Zero(t, postgres.Value[int](nil))
	require.Equal(t, 7, postgres.Value(postgres.Nullable(7)))
}
