package idempotency_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
)

// counter is one row that every call locks, reads and counts up.
func counter(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := setup(t)
	_, err := pool.Exec(t.Context(), "CREATE TABLE counter AS SELECT 0 AS n")
	require.NoError(t, err)
	return pool
}

// countUp sets the counter to one more than it read, unless refuse says no.
func countUp(ctx context.Context, pool *pgxpool.Pool, refuse func(n int) error) (*answer, error) {
	n := 0
	return idempotency.RunInTx(ctx, pool, empty, func(b *pgx.Batch) {
		b.Queue("SELECT n FROM counter FOR UPDATE").QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
	}, func() (effect idempotency.Effect[*answer], err error) {
		effect.Answer = &answer{ResponseStatus: proto.Int32(int32(n))}
		effect.Queue = func(b *pgx.Batch) { b.Queue("UPDATE counter SET n = $1", n+1) }
		return effect, refuse(n)
	})
}

func never(int) error { return nil }

func counted(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT n FROM counter").Scan(&n))
	return n
}

func TestALockedRequestHasItsEffectOnce(t *testing.T) {
	pool := counter(t)
	ctx := request(t.Context(), 1, "k", "f")
	for range 3 {
		got, err := countUp(ctx, pool, never)
		require.NoError(t, err)
		require.Zero(t, got.GetResponseStatus())
	}
	require.Equal(t, 1, counted(t, pool))
	_, err := countUp(request(t.Context(), 1, "k", "other"), pool, never)
	require.True(t, problem.Is(err, problem.IdempotencyKeyReused))
	require.Zero(t, pool.Stat().AcquiredConns())
}

func TestALockedRefusalIsStoredOnlyIfItIsAnOutcome(t *testing.T) {
	pool := counter(t)
	conflict := func(int) error { return problem.New(problem.NotCancellable, "no") }
	stored := request(t.Context(), 1, "conflict", "f")
	_, err := countUp(stored, pool, conflict)
	require.True(t, problem.Is(err, problem.NotCancellable))
	_, err = countUp(stored, pool, never)
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, problem.NotCancellable, p.Code)
	require.Equal(t, "first", p.Instance)

	free := request(t.Context(), 1, "free", "f")
	for _, fault := range []error{problem.New(problem.InvalidRequest, "no"), errors.New("broken")} {
		_, err = countUp(free, pool, func(int) error { return fault })
		require.ErrorIs(t, err, fault)
	}
	require.Zero(t, counted(t, pool))
	_, err = countUp(free, pool, never)
	require.NoError(t, err)
	require.Equal(t, 1, counted(t, pool))
	require.Zero(t, pool.Stat().AcquiredConns())
}

func TestLockedRequestsAtOnceRunOneAfterTheOther(t *testing.T) {
	pool := counter(t)
	const callers = 30
	var group errgroup.Group
	for i := range callers {
		// Every other one without a key.
		ctx := t.Context()
		if i%2 == 0 {
			ctx = request(ctx, 1, string(rune('a'+i)), "f")
		}
		group.Go(func() error {
			_, err := countUp(ctx, pool, never)
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, callers, counted(t, pool))
}

func TestALockedCallWhoseCallerLeavesHasNoEffect(t *testing.T) {
	pool := counter(t)
	ctx, leave := context.WithCancel(request(t.Context(), 1, "k", "f"))
	_, err := countUp(ctx, pool, func(int) error { leave(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, counted(t, pool))
	_, err = countUp(request(t.Context(), 1, "k", "f"), pool, never)
	require.NoError(t, err)
	require.Equal(t, 1, counted(t, pool))
}

func TestASecondLockedRequestUnderTheKeyNeverWaits(t *testing.T) {
	pool := counter(t)
	ctx := request(t.Context(), 1, "k", "f")
	_, err := countUp(ctx, pool, func(int) error {
		_, second := countUp(ctx, pool, never)
		require.True(t, problem.Is(second, problem.IdempotencyInProgress), "%v", second)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 1, counted(t, pool))
}

func TestALockedRequestWhoseConnectionIsCutLeavesNothing(t *testing.T) {
	pool := counter(t)
	ctx := request(t.Context(), 1, "k", "f")
	_, err := countUp(ctx, pool, func(int) error {
		// Waits, up to a minute, until the server's process is gone and its locks with it.
		_, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE datname = current_database() AND state = 'idle in transaction'`)
		return err
	})
	require.True(t, postgres.Unavailable(err), "%v", err)
	require.Zero(t, counted(t, pool))
	require.Zero(t, pool.Stat().AcquiredConns())
	_, err = countUp(ctx, pool, never)
	require.NoError(t, err, "the key is free")
	require.Equal(t, 1, counted(t, pool))
}
