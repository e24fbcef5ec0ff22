package postgres_test

import (
	"errors"
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
		group.Go(func() error { return postgres.Migrate(t.Context(), url, table()) })
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
}
