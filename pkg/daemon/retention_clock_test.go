package daemon

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// fixture is a database and the processes that use it. Time passes as the test says.
type fixture struct {
	pool *pgxpool.Pool
	// real time, and how far the database's clock is ahead of it.
	real, ahead time.Duration
	began       time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{pool: pgtest.New(t, RetentionClockMigrations())}
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT at FROM retention_clock").Scan(&f.began))
	return f
}

// process starts a process.
func (f *fixture) process(t *testing.T) *RetentionClock {
	t.Helper()
	return f.measured(t, telemetry.Discard())
}

// measured starts a process with telemetry.
func (f *fixture) measured(t *testing.T, tel *telemetry.Telemetry) *RetentionClock {
	t.Helper()
	c, err := NewRetentionClock(f.pool, tel)
	require.NoError(t, err)
	began := f.real
	c.elapsed = func() time.Duration { return f.real - began }
	return c
}

// lag is the lag that the process reads.
func (f *fixture) lag(t *testing.T, c *RetentionClock) time.Duration {
	t.Helper()
	c.database = new(f.began.Add(f.real + f.ahead))
	lag, err := c.Lag(t.Context())
	require.NoError(t, err)
	return lag
}

const year = 365 * 24 * time.Hour

func TestTheLastLagIsReadWhileTheDatabaseDoesNotAnswer(t *testing.T) {
	t.Parallel()
	f, tel := setup(t), telemetrytest.New()
	c := f.measured(t, tel.Telemetry)
	f.ahead = year
	lag := f.lag(t, c)
	require.Positive(t, lag)
	tx, err := f.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE retention_clock")
	require.NoError(t, err)
	reading := make(chan error, 1)
	go func() {
		_, err := c.Lag(t.Context())
		reading <- err
	}()
	require.Eventually(t, func() bool { return f.pool.Stat().AcquiredConns() == 2 }, 30*time.Second, time.Millisecond)
	require.Equal(t, lag, c.LastLag())
	require.Eventually(t, func() bool { return tel.Values(t, "gifting.retention.lag")[""] == lag.Seconds() }, 30*time.Second,
		time.Millisecond, "and reported")
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-reading)
}

func TestALagThatWasNotReadLatelyIsNotReported(t *testing.T) {
	t.Parallel()
	f, tel := setup(t), telemetrytest.New()
	f.real += 10 * time.Hour
	c := f.measured(t, tel.Telemetry)
	lag := func() map[string]float64 { return tel.Values(t, "gifting.retention.lag") }
	require.Empty(t, lag())
	f.lag(t, c)
	require.Equal(t, map[string]float64{"": (10 * time.Hour).Seconds()}, lag())
	f.real += unreadAfter
	require.Empty(t, lag())
	f.lag(t, c)
	require.NotEmpty(t, lag())
}

func TestAProcessWhoseClockIsFarBehindIsNotReady(t *testing.T) {
	t.Parallel()
	f, tel := setup(t), telemetrytest.New()
	c := f.measured(t, tel.Telemetry)
	var behind time.Duration
	c.now = func() time.Time { return f.began.Add(f.real - behind) }
	require.NoError(t, c.Ready(t.Context()), "before the first reading")
	f.lag(t, c)
	require.NoError(t, c.Ready(t.Context()))
	behind = 31 * 24 * time.Hour
	f.lag(t, c)
	require.EqualError(t, c.Ready(t.Context()), "the clock of this host is wrong: it is 744h0m0s behind that of the database")
	require.Equal(t, map[string]float64{"": -behind.Seconds()}, tel.Values(t, "gifting.clock.offset"))
	behind = -behind
	require.NoError(t, c.Ready(t.Context()), "what it stores is kept longer")
	behind = 0
	f.ahead = year
	for range 24 {
		f.real += time.Hour
		f.lag(t, c)
		require.NoError(t, c.Ready(t.Context()), "the clock of the database is wrong")
	}
}

func TestTheClockFollowsTheDatabase(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := f.process(t)
	for range 3 {
		require.Zero(t, f.lag(t, c))
		f.real += time.Hour
	}
	f.ahead = -20 * time.Minute
	require.Zero(t, f.lag(t, c), "also if its clock is slower")
	f.real += time.Minute
	f.ahead = -48 * time.Hour
	require.Zero(t, f.lag(t, c), "and if it steps back")
}

func TestAfterAJumpEverythingIsKeptLonger(t *testing.T) {
	t.Parallel()
	f := setup(t)
	processes := []*RetentionClock{f.process(t), f.process(t), f.process(t)}
	for range 60 {
		for _, c := range processes {
			f.lag(t, c)
		}
		f.real += tick
	}
	f.ahead = year
	began := f.real
	for range 60 {
		for _, c := range append(processes, f.process(t)) {
			lag := f.lag(t, c)
			require.LessOrEqual(t, year-lag, f.real-began+2*time.Minute, "the clock runs twice as fast as real time at most")
		}
		f.real += tick
	}
	f.ahead = 0
	require.Zero(t, f.lag(t, processes[0]), "when the database is right again")
}

func TestAfterThePlatformWasDownTheClockCatchesUp(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.real += 10 * time.Hour
	c := f.process(t)
	require.Equal(t, 10*time.Hour, f.lag(t, c))
	f.real += time.Hour
	require.Equal(t, 9*time.Hour, f.lag(t, c))
	f.real += 9 * time.Hour
	require.Zero(t, f.lag(t, c))
}
