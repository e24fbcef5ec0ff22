package growth_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	// fillers write at the same time, chunk rows each time.
	fillers = 2
	chunk   = 250_000
)

// fill runs the statement for all numbers from 1 to size, of which $1 is the first and $2 the last of each chunk.
func fill(b *testing.B, pool *pgxpool.Pool, statement string, size int, args ...any) {
	b.Helper()
	var group errgroup.Group
	group.SetLimit(fillers)
	for first := 1; first <= size; first += chunk {
		group.Go(func() error {
			return pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(b.Context(), "SET LOCAL synchronous_commit = off"); err != nil {
					return err
				}
				_, err := tx.Exec(b.Context(), statement, append([]any{first, min(first+chunk-1, size)}, args...)...)
				return err
			})
		})
	}
	require.NoError(b, group.Wait())
}

// definitions selects the statements that drop and create the indexes of a table, without its primary key.
const definitions = `SELECT 'DROP INDEX ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
FROM pg_index i WHERE i.indrelid = $1::regclass AND NOT i.indisunique
UNION ALL
SELECT 'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || conname,
  'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'u'`

// withoutIndexes drops the indexes of a table while f fills it: to create them afterwards is much faster.
func withoutIndexes(b *testing.B, pool *pgxpool.Pool, table string, f func()) {
	b.Helper()
	rows, err := pool.Query(b.Context(), definitions, table)
	require.NoError(b, err)
	type index struct{ Drop, Make string }
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	require.NoError(b, err)
	for _, i := range indexes {
		_, err := pool.Exec(b.Context(), i.Drop)
		require.NoError(b, err)
	}
	f()
	var group errgroup.Group
	group.SetLimit(fillers)
	for _, i := range indexes {
		group.Go(func() error { return inLargeMemory(b.Context(), pool, i.Make) })
	}
	require.NoError(b, group.Wait())
}

func inLargeMemory(ctx context.Context, pool *pgxpool.Pool, statement string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL maintenance_work_mem = '1GB'"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, statement)
		return err
	})
}

// vacuum does what the server does by itself in the time in which so many rows normally come in.
func vacuum(b *testing.B, pool *pgxpool.Pool) {
	b.Helper()
	for _, statement := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		_, err := pool.Exec(b.Context(), statement)
		require.NoError(b, err)
	}
}

// readThrough reads the orders into the memory of the system once all platforms are filled: to fill the largest has pushed
// out the others. The memory of PostgreSQL itself does not change.
func (p *platform) readThrough(b *testing.B) {
	b.Helper()
	pool := p.Pool(b, "orders", 1)
	for _, statement := range []string{
		"CREATE EXTENSION pg_prewarm",
		"SELECT pg_prewarm(oid, 'read') FROM pg_class WHERE relname IN ('orders', 'orders_pkey')",
	} {
		_, err := pool.Exec(b.Context(), statement)
		require.NoError(b, err)
	}
}
