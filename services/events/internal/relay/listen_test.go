package relay

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// waker wakes the relay after a service's calls.
func waker(t *testing.T, pool *pgxpool.Pool) *outbox.Waker {
	t.Helper()
	w := outbox.NewWaker(pool, telemetry.Discard().Logger)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return w
}

// call commits one change of the subject, as a call of a service does.
func call(t *testing.T, w *outbox.Waker, pool *pgxpool.Pool, subject string) {
	t.Helper()
	_, err := w.Intercept(t.Context(), nil, &grpc.UnaryServerInfo{}, func(ctx context.Context, _ any) (any, error) {
		return nil, postgres.Pipeline(ctx, pool, func(b *pgx.Batch) { outbox.Append(ctx, b, event(subject)) })
	})
	require.NoError(t, err)
}

func TestACommittedCallWakesTheRelay(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{PollInterval: time.Hour}, telemetry.Discard())
	f.start(t)
	for i, pool := range f.owners {
		w := waker(t, pool)
		// The first calls may happen before the relay listens.
		require.Eventually(t, func() bool {
			call(t, w, pool, "00000000-0000-4000-8000-000000000000")
			return len(f.published.subjects(t)) > 0
		}, waitLimit, pollInterval, "source %d", i)
		require.Eventually(t, func() bool { return f.rowsLeft(t) == 0 }, waitLimit, pollInterval)

		subject := "00000000-0000-4000-8000-000000000001"
		call(t, w, pool, subject)
		require.Eventually(t, func() bool {
			got := f.published.subjects(t)
			return got[len(got)-1] == subject
		}, waitLimit, pollInterval, "source %d", i)
	}
}

func TestARelayListensAgainAfterItLostASource(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{PollInterval: time.Hour}, telemetry.Discard())
	f.start(t)
	pool := f.owners[0]
	w := waker(t, pool)
	subject := "00000000-0000-4000-8000-000000000001"
	arrives := func(more int) func() bool {
		return func() bool {
			call(t, w, pool, subject)
			return len(f.published.subjects(t)) > more
		}
	}
	require.Eventually(t, arrives(0), waitLimit, pollInterval)
	_, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return f.rowsLeft(t) == 0 }, waitLimit, pollInterval)
	require.Eventually(t, arrives(len(f.published.subjects(t))), waitLimit, pollInterval)
}

func TestACallThatAppendsNothingDoesNotWakeTheRelay(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	conn, err := f.owners[0].Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "LISTEN "+outbox.Channel)
	require.NoError(t, err)
	w := waker(t, f.owners[0])
	_, err = w.Intercept(t.Context(), nil, &grpc.UnaryServerInfo{}, func(context.Context, any) (any, error) { return nil, nil })
	require.NoError(t, err)

	call(t, w, f.owners[0], "00000000-0000-4000-8000-000000000001")
	_, err = conn.Conn().WaitForNotification(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = conn.Conn().WaitForNotification(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded, "one notification per call that appends")
}
