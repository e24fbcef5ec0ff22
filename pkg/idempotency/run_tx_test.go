package idempotency_test

import (
	"context"
	"errors"
	"sync/atomic"
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

// inTx is the transaction of a store.
func inTx(pool *pgxpool.Pool) func(ctx context.Context, work func(tx pgx.Tx) error) error {
	return func(ctx context.Context, work func(tx pgx.Tx) error) error { return postgres.InTx(ctx, pool, work) }
}

// secret counts up and returns a secret that is not stored.
func secret(ctx context.Context, pool *pgxpool.Pool, run func(context.Context, func(pgx.Tx) error) error) (*answer, error) {
	return idempotency.RunTx(ctx, pool, run, func(tx pgx.Tx) (got, stored *answer, err error) {
		_, err = tx.Exec(ctx, countUp)
		return &answer{Error: proto.String("secret"), ResponseStatus: proto.Int32(7)}, &answer{ResponseStatus: proto.Int32(7)}, err
	})
}

func TestARepetitionGetsOnlyWhatIsStored(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	ctx := request(t.Context(), 1, "k", "f")
	got, err := secret(ctx, pool, inTx(pool))
	require.NoError(t, err)
	require.Equal(t, "secret", got.GetError())
	for range 2 {
		got, err = secret(ctx, pool, inTx(pool))
		require.NoError(t, err)
		require.Nil(t, got.Error)
		require.EqualValues(t, 7, got.GetResponseStatus())
	}
	require.Equal(t, 1, counted(t, pool))
	var found int
	require.NoError(t,
		pool.QueryRow(t.Context(), `SELECT count(*) FROM idempotency_answers WHERE position('secret'::bytea IN answer) > 0`).Scan(&found))
	require.Zero(t, found)
	_, err = secret(request(t.Context(), 1, "k", "other"), pool, inTx(pool))
	require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
}

func TestATransactionThatDoesNotCommitStoresNothing(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	ctx, lost := request(t.Context(), 1, "k", "f"), errors.New("lost")
	got, err := secret(ctx, pool, func(ctx context.Context, work func(pgx.Tx) error) error {
		return postgres.InTx(ctx, pool, func(tx pgx.Tx) error { return errors.Join(work(tx), lost) })
	})
	require.ErrorIs(t, err, lost)
	require.Nil(t, got, "the answer of an effect that was undone is not returned")
	require.Zero(t, counted(t, pool))
	got, err = secret(ctx, pool, inTx(pool))
	require.NoError(t, err)
	require.Equal(t, "secret", got.GetError(), "the key is free")
}

func TestConcurrentRequestsGetASecretOnce(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	var first, repeated, refused atomic.Int32
	var group errgroup.Group
	for range 20 {
		group.Go(func() error {
			got, err := secret(request(t.Context(), 1, "k", "f"), pool, inTx(pool))
			switch {
			case problem.Is(err, problem.IdempotencyInProgress):
				refused.Add(1)
				return nil
			case got.GetError() == "secret":
				first.Add(1)
			default:
				repeated.Add(1)
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 1, first.Load())
	require.EqualValues(t, 19, repeated.Load()+refused.Load())
	require.Equal(t, 1, counted(t, pool))
}
