package relay

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
)

// listening waits until the relay listens to all sources.
func (f *fixture) listening(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return f.wakeups.unheard.Load() == 0 }, waitLimit, pollInterval)
}

func TestAnIdleRelayThatListensReadsNothing(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{PollInterval: time.Millisecond, HeartbeatInterval: time.Hour}, telemetry.Discard())
	var reads atomic.Int64
	f.traceReads(t, 0, readTracer{before: func() { reads.Add(1) }, after: func() {}})
	f.start(t)
	f.listening(t)
	quiet := func() bool {
		before := reads.Load()
		pause(t.Context(), 100*time.Millisecond, nil)
		return reads.Load() == before
	}
	require.Eventually(t, quiet, waitLimit, pollInterval)
	before := reads.Load()
	subject := f.addEvent(t, 0)
	f.Wake()
	require.Eventually(t, func() bool { return f.rowsLeft(t) == 0 }, waitLimit, pollInterval)
	require.Equal(t, []string{subject}, f.published.subjects(t))
	require.LessOrEqual(t, reads.Load()-before, int64(2))
}

func TestTheHeartbeatFindsAChangeWhoseNotificationWasLost(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{PollInterval: time.Millisecond, HeartbeatInterval: 200 * time.Millisecond}, telemetry.Discard())
	f.start(t)
	f.listening(t)
	for n := range 3 {
		f.addEvent(t, 0)
		require.Eventually(t, func() bool { return len(f.published.subjects(t)) == n+1 }, waitLimit, pollInterval)
	}
}

func TestTheRelayPollsWhileItDoesNotListen(t *testing.T) {
	t.Parallel()
	cfg := Config{PollInterval: time.Millisecond, HeartbeatInterval: time.Second}
	w := newWakeups(2)
	require.Equal(t, cfg.PollInterval, w.interval(cfg))
	ended := w.listens()
	require.Equal(t, cfg.PollInterval, w.interval(cfg), "it listens to one of two sources")
	w.listens()
	require.Equal(t, cfg.HeartbeatInterval, w.interval(cfg))
	ended()
	require.Equal(t, cfg.PollInterval, w.interval(cfg))
	cfg.PollInterval = time.Minute
	w.listens()
	require.Equal(t, time.Minute, w.interval(cfg), "the setting may be longer than the heartbeat")
}

func TestARelayThatCannotListenPolls(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{PollInterval: time.Millisecond, HeartbeatInterval: time.Hour}, telemetry.Discard())
	f.start(t)
	f.listening(t)
	first := f.addEvent(t, 1) // So that the relay also has a connection that reads.
	f.Wake()
	require.Eventually(t, func() bool { return len(f.published.subjects(t)) == 1 }, waitLimit, pollInterval)
	name := f.owners[1].Config().ConnConfig.Database
	pgtest.Exec(t, f.owners[0], "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false") // The relay's other connections work.
	pgtest.Exec(t, f.owners[1], `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
	require.Eventually(t, func() bool { return f.wakeups.unheard.Load() == 1 }, waitLimit, pollInterval)
	want := f.addEvent(t, 1)
	require.Eventually(t, func() bool { return len(f.published.subjects(t)) == 2 }, waitLimit, pollInterval)
	require.Equal(t, []string{first, want}, f.published.subjects(t))

	pgtest.Exec(t, f.owners[0], "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true")
	f.listening(t)
}

func TestALateFirstReadDoesNotHoldBackWhatItSaw(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	var want string
	var reads int
	f.traceReads(t, 0, readTracer{before: func() {
		if reads++; reads == 1 {
			want = f.addEvent(t, 0) // It is recorded after the batch began.
		}
	}, after: func() {}})
	require.Equal(t, 1, f.publish(t))
	require.Equal(t, []string{want}, f.published.subjects(t))
	require.Equal(t, 2, reads)
}

// TestClocksOfSeveralServersAreReadUntilTheyAreExact lets one source pretend to be on another server.
func TestClocksOfSeveralServersAreReadUntilTheyAreExact(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	f.publish(t) // It connects.
	f.sources[1].server.Store(&server{instance: "another", table: "outbox"})
	_, err := f.publishBatch(t.Context())
	require.ErrorIs(t, err, errServerChanged)
	f.publish(t)
	for _, offset := range f.clockOffsets { // As after long readings.
		offset.low, offset.high = offset.low-time.Second, offset.high+time.Second
	}
	wide := func() (n int) {
		for _, offset := range f.clockOffsets {
			if offset.uncertainty() > time.Second/4 {
				n++
			}
		}
		return n
	}
	require.Equal(t, 2, wide())
	clocks := f.sources[1].pool.Stat().AcquireCount()
	readings := []reading{
		{rows: []row{{id: 1}}, tick: tick{server: f.servers[0]}}, {rows: []row{{id: 1}}, tick: tick{server: f.servers[1]}},
	}
	require.NoError(t, f.compareClocks(t.Context(), readings))
	require.Zero(t, wide())
	require.LessOrEqual(t, f.sources[1].pool.Stat().AcquireCount()-clocks, int64(moreReadings))
	f.sources[1].server.Store(&server{instance: "a third", table: "outbox"})
	f.clockOffsets["another"].high += time.Second
	require.ErrorIs(t, f.compareClocks(t.Context(), readings), errServerChanged)
	readings[0].rows = nil
	require.NoError(t, f.compareClocks(t.Context(), readings), "rows of one server need no comparison")
}

// waker wakes the relay after a service's calls.
func waker(t *testing.T, pool *pgxpool.Pool) *outbox.Waker {
	t.Helper()
	w := outbox.NewWaker(pool, telemetry.Discard().Logger)
	testenv.Run(t, w.Run)
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
	pgtest.Exec(t, pool, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
	require.Eventually(t, func() bool { return f.rowsLeft(t) == 0 }, waitLimit, pollInterval)
	require.Eventually(t, arrives(len(f.published.subjects(t))), waitLimit, pollInterval)
}

func TestACallThatAppendsNothingDoesNotWakeTheRelay(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	conn, err := f.owners[0].Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	pgtest.Exec(t, conn, "LISTEN "+outbox.Channel)
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
