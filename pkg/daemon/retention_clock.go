package daemon

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
)

//go:embed migrations/*.sql
var files embed.FS

// RetentionClockMigrations is the schema of the clock.
func RetentionClockMigrations() postgres.Migrations {
	return postgres.Embedded("retention", files)
}

const (
	// speed is how fast the clock may run, as a multiple of real time. It has to be more than one to catch up.
	speed = 2
	// tick keeps the clock close to the database's, so that a restart of the process makes it lag by little.
	tick = time.Minute
	// unreadAfter is when the last reading is not reported any more.
	unreadAfter = 3 * tick
	// maxBehind is half of the shortest time after which an open order may be cancelled because of its age.
	maxBehind = 12 * time.Hour
)

// RetentionClock is a second clock in each database, by which rows get old. If the database's own clock is a year ahead for an
// hour, all rows are old by it. The second clock runs at most twice as fast as real time, which the processes measure with their
// monotonic clocks. After such a jump, and after the platform was down, it lags behind, and rows are kept longer by the lag.
type RetentionClock struct {
	pool *pgxpool.Pool
	// elapsed is the real time since the clock was made.
	elapsed func() time.Duration
	// now is the clock of the process.
	now func() time.Time
	// database replaces the database's clock in tests; otherwise it is nil.
	database *time.Time

	lock sync.Mutex
	// last is what the clock showed at the last reading, and lastRead when that was, by elapsed.
	last     time.Time
	lastRead time.Duration

	// reading is nil before the first one. It is atomic, because the lock is held while the database is asked.
	reading atomic.Pointer[clockReading]
}

type clockReading struct {
	// shown is what the clock showed, and lag how far it was behind the database's clock.
	shown time.Time
	lag   time.Duration
	// offset is how far the clock of the process was ahead of the database's.
	offset time.Duration
	// at is when it was read, by elapsed.
	at time.Duration
}

// NewRetentionClock makes a clock. It reports how far it lags, and how far the clock of the process is ahead of the database's.
func NewRetentionClock(pool *pgxpool.Pool, tel *telemetry.Telemetry) (*RetentionClock, error) {
	began := time.Now()
	c := &RetentionClock{pool: pool, elapsed: func() time.Duration { return time.Since(began) }, now: time.Now}
	meter := tel.Meters.Meter("github.com/partnergifting/platform/pkg/daemon")
	_, err := meter.Float64ObservableGauge("gifting.retention.lag", metric.WithUnit("s"),
		metric.WithDescription("How much longer rows are kept, because the database's clock jumped ahead or nothing ran."),
		c.observe(func(r *clockReading) time.Duration { return r.lag }))
	if err != nil {
		return nil, fmt.Errorf("metric of the retention clock: %w", err)
	}
	_, err = meter.Float64ObservableGauge("gifting.clock.offset", metric.WithUnit("s"),
		metric.WithDescription("How far the clock of the process is ahead of that of its database."),
		c.observe(func(r *clockReading) time.Duration { return r.offset }))
	if err != nil {
		return nil, fmt.Errorf("metric of the clock of the process: %w", err)
	}
	return c, nil
}

// observe reports a value of the last reading, unless that is too old.
func (c *RetentionClock) observe(value func(r *clockReading) time.Duration) metric.Float64ObservableGaugeOption {
	return metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
		if r := c.reading.Load(); r != nil && c.elapsed()-r.at < unreadAfter {
			o.Observe(value(r).Seconds())
		}
		return nil
	})
}

// Part keeps the clock going.
func (c *RetentionClock) Part(tel *telemetry.Telemetry) Part {
	return Every("retention clock", tick, tel, func(ctx context.Context) error {
		_, err := c.Lag(ctx)
		return err
	})
}

const (
	readClock = `SELECT at FROM retention_clock`
	// The clock never passes the database's, and goes back with it.
	moveClock = `UPDATE retention_clock SET at = least(now, greatest(at, $1))
  FROM (SELECT coalesce($2::timestamptz, clock_timestamp()) AS now) c
RETURNING at, now - at`
)

// Every is daemon.Every for work that deletes or erases by age. The work adds the lag to the time for which rows are kept.
func (c *RetentionClock) Every(
	name string, interval time.Duration, tel *telemetry.Telemetry, work func(ctx context.Context, lag time.Duration) error,
) Part {
	return Every(name, interval, tel, func(ctx context.Context) error {
		lag, err := c.Lag(ctx)
		if err != nil {
			return err
		}
		return work(ctx, lag)
	})
}

// LastLag is the lag at the last reading, which Part makes every minute. It is zero before the first one.
func (c *RetentionClock) LastLag() time.Duration {
	if r := c.reading.Load(); r != nil {
		return r.lag
	}
	return 0
}

var errBehind = errors.New("the clock of this host is wrong")

// Ready returns an error if the clock of the process is so far behind that what it stores now could soon be old enough to be
// erased. While the retention clock itself lags, the clock of the database may be the wrong one, so the process serves.
func (c *RetentionClock) Ready(context.Context) error {
	r := c.reading.Load()
	if r == nil || r.lag > maxBehind {
		return nil
	}
	if behind := r.shown.Sub(c.now()); behind > maxBehind {
		return fmt.Errorf("%w: it is %s behind that of the database", errBehind, behind.Round(time.Minute))
	}
	return nil
}

// Lag returns how far the clock is behind the database's. What is kept for a time must be kept for so much longer.
func (c *RetentionClock) Lag(ctx context.Context) (time.Duration, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	elapsed := c.elapsed()
	if c.last.IsZero() {
		if err := c.pool.QueryRow(ctx, readClock).Scan(&c.last); err != nil {
			return 0, fmt.Errorf("read the retention clock: %w", err)
		}
		c.lastRead = elapsed
	}
	// Each process counts from what it has read, so several that run at once do not add up.
	latest := c.last.Add(speed * (elapsed - c.lastRead))
	var lag time.Duration
	asked := c.now()
	if err := c.pool.QueryRow(ctx, moveClock, latest, c.database).Scan(&c.last, &lag); err != nil {
		return 0, fmt.Errorf("move the retention clock: %w", err)
	}
	c.lastRead = elapsed
	// The database has read its clock between the request and the response.
	halfway := asked.Add(c.now().Sub(asked) / 2)
	c.reading.Store(&clockReading{shown: c.last, lag: lag, offset: halfway.Sub(c.last.Add(lag)), at: elapsed})
	return lag, nil
}
