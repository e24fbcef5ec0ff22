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
	"github.com/partnergifting/platform/pkg/problem"
)

// trips counts what a pool sends to the server.
type trips struct{ queries, batches atomic.Int32 }

func (t *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	t.queries.Add(1)
	return ctx
}

func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (t *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	t.batches.Add(1)
	return ctx
}

func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func observed(t *testing.T, pool *pgxpool.Pool) (*pgxpool.Pool, *trips) {
	t.Helper()
	counter, cfg := &trips{}, pool.Config()
	cfg.ConnConfig.Tracer = counter
	counting, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(counting.Close)
	return counting, counter
}

func TestAFirstRequestTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	pool, sent := observed(t, setup(t))
	_, err := run(request(t.Context(), 1, "k", "f"), pool, effect("a", "one"))
	require.NoError(t, err)
	require.EqualValues(t, 1, sent.batches.Load())
	require.Zero(t, sent.queries.Load())
}

// failing is a preparation that fails, as when the catalog is down or the rules have changed since the first request.
func failing(err error) func(context.Context) (idempotency.Effect[*answer], error) {
	return func(context.Context) (idempotency.Effect[*answer], error) { return idempotency.Effect[*answer]{}, err }
}

var failures = map[string]error{
	"the request is invalid now":    problem.New(problem.InvalidRequest, "no"),
	"it is refused now":             problem.New(problem.OutOfStock, "none left"),
	"a service cannot be reached":   problem.Unavailable(),
	"an error that is not expected": errors.New("broken"),
}

func TestARepetitionGetsTheFirstAnswerAlthoughItsPreparationFails(t *testing.T) {
	t.Parallel()
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := setup(t)
			ctx := request(t.Context(), 1, "k", "f")
			_, err := run(ctx, pool, effect("a", "one"))
			require.NoError(t, err)
			got, err := run(ctx, pool, failing(failure))
			require.NoError(t, err)
			require.Equal(t, "one", got.GetError())
			_, err = run(request(t.Context(), 1, "k", "other"), pool, failing(failure))
			require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
		})
	}
}

func TestAStoredRefusalIsRepeatedWhateverThePreparationDecidesNow(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	ctx := request(t.Context(), 1, "k", "f")
	_, err := run(ctx, pool, failing(problem.New(problem.OutOfStock, "none left")))
	require.True(t, problem.Is(err, problem.OutOfStock))
	for name, failure := range failures {
		_, err = run(ctx, pool, failing(failure))
		require.True(t, problem.Is(err, problem.OutOfStock), "%s: %v", name, err)
	}
	_, err = run(ctx, pool, effect("a", "one"))
	require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
	require.Zero(t, effects(t, pool))
}

func TestAKeyClaimedByAnotherServiceIsRefusedAlthoughThePreparationFails(t *testing.T) {
	t.Parallel()
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, r := setupRegister(t)
			require.NoError(t, r.claim(t.Context(), "f"))
			_, err := run(request(t.Context(), 1, "k", "f"), pool, failing(failure))
			require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
		})
	}
}

func TestWithoutItsDatabaseNoRequestIsRefusedForItsContent(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	pool.Close()
	_, err := run(request(t.Context(), 1, "k", "f"), pool, failing(problem.New(problem.InvalidRequest, "no")))
	require.Error(t, err)
	require.False(t, problem.Is(err, problem.InvalidRequest), "it may have an answer")
}

// reserving is an effect in another service, before that in the database.
func reserving(pool *pgxpool.Pool, reserved *atomic.Int32) func(context.Context) (idempotency.Effect[*answer], error) {
	return func(ctx context.Context) (e idempotency.Effect[*answer], err error) {
		if err := idempotency.BeforeEffect(ctx, pool); err != nil {
			return e, err
		}
		reserved.Add(1)
		e.Answer = &answer{Error: proto.String("one")}
		e.Queue = func(b *pgx.Batch) { b.Queue(countUp) }
		return e, nil
	}
}

func TestARepetitionHasNoEffectInAnotherService(t *testing.T) {
	t.Parallel()
	pool, reserved := setup(t), &atomic.Int32{}
	ctx := request(t.Context(), 1, "k", "f")
	for range 3 {
		got, err := run(ctx, pool, reserving(pool, reserved))
		require.NoError(t, err)
		require.Equal(t, "one", got.GetError())
	}
	_, err := run(request(t.Context(), 1, "k", "other"), pool, reserving(pool, reserved))
	require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
	require.EqualValues(t, 1, reserved.Load())
	require.Equal(t, 1, counted(t, pool))
	for range 2 {
		_, err := run(t.Context(), pool, reserving(pool, reserved))
		require.NoError(t, err, "a call without a key just runs")
	}
	require.EqualValues(t, 3, reserved.Load())
}

func TestConcurrentRequestsAndOthersUnderTheirKeyHaveOneEffect(t *testing.T) {
	t.Parallel()
	pool, reserved := setup(t), &atomic.Int32{}
	var done atomic.Int32
	var group errgroup.Group
	for i := range 40 {
		fingerprint, prepare := "f", reserving(pool, reserved)
		switch i % 4 {
		case 1:
			fingerprint = "other"
		case 2:
			prepare = failing(failures["the request is invalid now"])
		}
		group.Go(func() error {
			got, err := run(request(t.Context(), 1, "k", fingerprint), pool, prepare)
			switch {
			case err == nil && got.GetError() == "one":
				done.Add(1)
				return nil
			case problem.Is(err, problem.IdempotencyInProgress), problem.Is(err, problem.IdempotencyKeyReused),
				problem.Is(err, problem.InvalidRequest):
				return nil
			}
			return errors.Join(errors.New("another outcome"), err)
		})
	}
	require.NoError(t, group.Wait())
	require.Positive(t, done.Load())
	require.Equal(t, 1, counted(t, pool))
	winner := storedFingerprint(t, pool)
	got, err := run(request(t.Context(), 1, "k", winner), pool, failing(failures["the request is invalid now"]))
	require.NoError(t, err)
	require.Equal(t, "one", got.GetError())
}
