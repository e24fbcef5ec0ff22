package postgres_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	leaseTasks    = 12
	leasePatience = 20 * time.Second
)

// leaseholders are processes that divide tasks. They record who runs which.
type leaseholders struct {
	t   *testing.T
	url string

	lock sync.Mutex
	// running has the holder of each task, overlaps how often a second one began a task that still ran, begun how often each began.
	running  map[int]string
	overlaps int
	begun    map[int]int
}

func newLeaseholders(t *testing.T) *leaseholders {
	t.Helper()
	return &leaseholders{t: t, url: pgtest.NewURL(t), running: map[int]string{}, begun: map[int]int{}}
}

// start runs a process until the returned function is called or the test ends.
func (l *leaseholders) start(name string) (stop func()) {
	ctx, cancel := context.WithCancel(l.t.Context())
	var running sync.WaitGroup
	leases := postgres.Leases{URL: l.url, Class: 7, Log: telemetry.Discard().Logger}
	running.Go(func() {
		leases.Run(ctx, leaseTasks, func(ctx context.Context, number int) { l.run(ctx, name, number) })
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	l.t.Cleanup(stop)
	return stop
}

func (l *leaseholders) run(ctx context.Context, name string, number int) {
	l.lock.Lock()
	if l.running[number] != "" {
		l.overlaps++
	}
	l.running[number] = name
	l.begun[number]++
	l.lock.Unlock()
	<-ctx.Done()
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.running[number] == name {
		delete(l.running, number)
	}
}

// shares returns how many tasks each process runs, in ascending order.
func (l *leaseholders) shares() []int {
	l.lock.Lock()
	defer l.lock.Unlock()
	counts := map[string]int{}
	for _, name := range l.running {
		counts[name]++
	}
	return slices.Sorted(maps.Values(counts))
}

func (l *leaseholders) awaitShares(want ...int) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return slices.Equal(want, l.shares()) }, leasePatience, 10*time.Millisecond,
		"shares are to become %v", want)
}

func (l *leaseholders) begins() map[int]int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return maps.Clone(l.begun)
}

func TestTasksAreDividedEvenly(t *testing.T) {
	t.Parallel()
	l := newLeaseholders(t)
	stopFirst := l.start("first")
	l.awaitShares(12)
	before := l.begins()
	l.start("second")
	l.awaitShares(6, 6)
	moved := 0
	for number, count := range l.begins() {
		moved += count - before[number]
	}
	require.Equal(t, 6, moved, "the others were not interrupted")
	stopThird := l.start("third")
	l.awaitShares(4, 4, 4)
	l.start("fourth")
	l.start("fifth")
	l.awaitShares(2, 2, 2, 3, 3)
	stopThird()
	l.awaitShares(3, 3, 3, 3)
	stopFirst()
	l.awaitShares(4, 4, 4)
	require.Zero(t, l.overlaps)
}

func TestTheTasksOfAProcessWhoseSessionEndsAreFree(t *testing.T) {
	t.Parallel()
	l := newLeaseholders(t)
	conn, err := pgx.Connect(t.Context(), l.url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	l.start("first")
	l.start("second")
	l.awaitShares(6, 6)
	for range 3 {
		_, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return !slices.Equal([]int{6, 6}, l.shares()) }, leasePatience, time.Millisecond)
		l.awaitShares(6, 6)
	}
}

// A task that does not return keeps its lease: nobody else runs it, and the other tasks move.
func TestALeaseIsReleasedWhenItsTaskHasReturned(t *testing.T) {
	t.Parallel()
	url, hold := pgtest.NewURL(t), make(chan struct{})
	var second sync.Map
	run := func(ctx context.Context, task func(ctx context.Context, number int)) (stop func()) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() {
			postgres.Leases{URL: url, Class: 7, Log: telemetry.Discard().Logger}.Run(ctx, 4, task)
		})
		return func() {
			cancel()
			running.Wait()
		}
	}
	began := make(chan int, 4)
	stop := run(t.Context(), func(ctx context.Context, number int) {
		began <- number
		<-ctx.Done()
		if number == 3 {
			<-hold
		}
	})
	for range 4 {
		<-began
	}
	stopSecond := run(t.Context(), func(ctx context.Context, number int) {
		second.Store(number, true)
		<-ctx.Done()
	})
	defer stopSecond()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	count := func() (n int) {
		second.Range(func(any, any) bool { n++; return true })
		return n
	}
	require.Eventually(t, func() bool { return count() == 3 }, leasePatience, 10*time.Millisecond)
	require.Never(t, func() bool { return count() > 3 }, 5*time.Second, 100*time.Millisecond, "although the session does nothing else")
	close(hold)
	<-stopped
	require.Eventually(t, func() bool { return count() == 4 }, leasePatience, 10*time.Millisecond)
}

func TestTheServerEndsALockSessionThatIsNotUsed(t *testing.T) {
	t.Parallel()
	conn, err := postgres.ConnectToLock(t.Context(), pgtest.NewURL(t), 300*time.Millisecond)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"idle_session_timeout": "300ms", "tcp_keepalives_idle": "3", "tcp_keepalives_interval": "1", "tcp_keepalives_count": "2",
	} {
		var got string
		require.NoError(t, conn.QueryRow(t.Context(), "SHOW "+name).Scan(&got))
		require.Equal(t, want, got, name)
	}
	_, err = conn.WaitForNotification(t.Context())
	require.ErrorContains(t, err, "idle-session timeout")
}

// A process that releases a lease notifies the others, and each of them then looks for free tasks before its interval is over.
func TestAReleaseIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	l := newLeaseholders(t)
	conn, err := pgx.Connect(t.Context(), l.url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	_, err = conn.Exec(t.Context(), "LISTEN gifting_leases")
	require.NoError(t, err)
	stopFirst := l.start("first")
	l.awaitShares(12)
	stopFirst()
	within, cancel := context.WithTimeout(t.Context(), leasePatience)
	defer cancel()
	for range 12 {
		_, err := conn.WaitForNotification(within)
		require.NoError(t, err)
	}
	l.start("second")
	l.awaitShares(12)
	var last, looked time.Time
	look := func() {
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT query_start FROM pg_stat_activity JOIN pg_locks USING (pid)
WHERE locktype = 'advisory' AND datname = current_database() LIMIT 1`).Scan(&looked))
	}
	deadline := time.Now().Add(leasePatience)
	for n := range 100 { // More than the intervals in that time.
		look()
		last = looked
		_, err := conn.Exec(t.Context(), "NOTIFY gifting_leases")
		require.NoError(t, err)
		for looked.Equal(last) {
			require.True(t, time.Now().Before(deadline), "%d notifications", n)
			look()
		}
	}
}
