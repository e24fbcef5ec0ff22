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

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

type answer = webhookv1.TestWebhookResponse

func setup(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := pgtest.New(t, idempotency.Migrations())
	_, err := pool.Exec(t.Context(), "CREATE TABLE effects (id int GENERATED ALWAYS AS IDENTITY, name text UNIQUE)")
	require.NoError(t, err)
	return pool
}

func request(ctx context.Context, keyID int32, key, fingerprint string) context.Context {
	ctx = caller.WithPrincipal(ctx, caller.Principal{TenantID: "t", KeyID: keyID})
	return caller.WithRequest(ctx, caller.Request{IdempotencyKey: key, Fingerprint: []byte(fingerprint), ID: "first"})
}

func empty() *answer { return &answer{} }

// effect inserts a row and answers with text.
func effect(name, text string) func(context.Context) (idempotency.Effect[*answer], error) {
	return func(context.Context) (idempotency.Effect[*answer], error) {
		return idempotency.Effect[*answer]{
			Answer: &answer{Error: proto.String(text)},
			Queue:  func(b *pgx.Batch) { b.Queue("INSERT INTO effects (name) VALUES ($1)", name) },
		}, nil
	}
}

func effects(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM effects").Scan(&n))
	return n
}

func TestARepetitionGetsTheFirstAnswerAndHasNoEffect(t *testing.T) {
	pool := setup(t)
	ctx := request(t.Context(), 1, "k", "f")
	first, err := idempotency.Run(ctx, pool, empty, effect("a", "one"))
	require.NoError(t, err)
	again, err := idempotency.Run(ctx, pool, empty, effect("b", "two"))
	require.NoError(t, err)
	require.True(t, proto.Equal(first, again))
	require.Equal(t, 1, effects(t, pool))

	t.Run("another request under the key is told so", func(t *testing.T) {
		_, err := idempotency.Run(request(t.Context(), 1, "k", "other"), pool, empty, effect("c", "three"))
		require.True(t, problem.Is(err, problem.IdempotencyKeyReused))
	})
	t.Run("another API key has keys of its own", func(t *testing.T) {
		_, err := idempotency.Run(request(t.Context(), 2, "k", "f"), pool, empty, effect("d", "four"))
		require.NoError(t, err)
		require.Equal(t, 2, effects(t, pool))
	})
}

func TestADecidedConflictIsStoredAndOtherFaultsAreNot(t *testing.T) {
	pool := setup(t)
	refuse := func(p *problem.Error) func(context.Context) (idempotency.Effect[*answer], error) {
		return func(context.Context) (idempotency.Effect[*answer], error) { return idempotency.Effect[*answer]{}, p }
	}
	stored := request(t.Context(), 1, "conflict", "f")
	_, err := idempotency.Run(stored, pool, empty, refuse(problem.New(problem.OutOfStock, "none left")))
	require.True(t, problem.Is(err, problem.OutOfStock))
	_, err = idempotency.Run(stored, pool, empty, effect("a", "one"))
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, "none left", p.Detail)
	require.Equal(t, "first", p.Instance, "the replayed body names the first occurrence")

	for _, code := range []problem.Code{problem.InvalidRequest, problem.NotFound, problem.InternalError, problem.ServiceUnavailable} {
		ctx := request(t.Context(), 1, string(code), "f")
		_, err := idempotency.Run(ctx, pool, empty, refuse(problem.New(code, "no")))
		require.True(t, problem.Is(err, code))
		_, err = idempotency.Run(ctx, pool, empty, effect(string(code), "now it works"))
		require.NoError(t, err)
	}
}

func TestAConflictFoundByTheDatabaseIsStored(t *testing.T) {
	pool := setup(t)
	_, err := idempotency.Run(request(t.Context(), 1, "k1", "f"), pool, empty, effect("same", "one"))
	require.NoError(t, err)
	clash := func(ctx context.Context) (idempotency.Effect[*answer], error) {
		e, err := effect("same", "two")(ctx)
		e.Translate = func(error) error { return problem.New(problem.ExternalOrderIDConflict, "taken") }
		return e, err
	}
	for range 2 {
		_, err = idempotency.Run(request(t.Context(), 1, "k2", "f"), pool, empty, clash)
		require.True(t, problem.Is(err, problem.ExternalOrderIDConflict))
	}
	require.Equal(t, 1, effects(t, pool))
}

func TestManyAtOnceHaveOneEffect(t *testing.T) {
	pool := setup(t)
	const callers = 50
	var done, refused atomic.Int32
	var group errgroup.Group
	for range callers {
		group.Go(func() error {
			got, err := idempotency.Run(request(t.Context(), 1, "k", "f"), pool, empty, effect("only", "one"))
			switch {
			case problem.Is(err, problem.IdempotencyInProgress):
				refused.Add(1)
				return nil
			case err != nil:
				return err
			case got.GetError() != "one":
				return errors.New("another answer")
			}
			done.Add(1)
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, callers, done.Load()+refused.Load())
	require.Positive(t, done.Load())
	require.Equal(t, 1, effects(t, pool))
}

func TestASecondCallerNeverWaits(t *testing.T) {
	pool := setup(t)
	entered, release := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	ctx := request(t.Context(), 1, "k", "f")
	go func() {
		_, err := idempotency.RunExternal(ctx, pool, empty, func(context.Context) (*answer, error) {
			close(entered)
			<-release
			return &answer{Error: proto.String("one")}, nil
		})
		first <- err
	}()
	<-entered
	act := func(context.Context) (*answer, error) { return nil, errors.New("must not act") }
	_, err := idempotency.RunExternal(ctx, pool, empty, act)
	require.True(t, problem.Is(err, problem.IdempotencyInProgress))
	close(release)
	require.NoError(t, <-first)
	got, err := idempotency.RunExternal(ctx, pool, empty, act)
	require.NoError(t, err)
	require.Equal(t, "one", got.GetError())
}

func TestACallWithoutAKeyRunsAsItIs(t *testing.T) {
	pool := setup(t)
	for _, name := range []string{"a", "b"} {
		_, err := idempotency.Run(t.Context(), pool, empty, effect(name, "x"))
		require.NoError(t, err)
	}
	require.Equal(t, 2, effects(t, pool))
}

func TestReservationKeysDiffer(t *testing.T) {
	one := idempotency.Request{KeyID: 1, Key: "k"}
	require.Equal(t, one.ReservationKey(), idempotency.Request{KeyID: 1, Key: "k", ID: "x"}.ReservationKey())
	require.NotEqual(t, one.ReservationKey(), idempotency.Request{KeyID: 2, Key: "k"}.ReservationKey())
}
