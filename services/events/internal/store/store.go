// Package store keeps the event feed in PostgreSQL: a table partitioned by day, written by the
// consumers of Kafka and read by GET /events.
//
// # Order
//
// All events of a tenant are in one Kafka partition. Append locks the partition's row before it takes a position from the
// sequence, and holds the lock until it has committed. So of a tenant's positions a higher one is always committed later, and a
// reader that continues after the last position it saw misses nothing.
//
// # Duplicates
//
// Kafka delivers an event again after a failure, and the relay may publish one twice. Append drops an
// event whose id the feed has. It looks for the id from the day on which the event was recorded, because
// no event is inserted before that, and one day earlier for clocks that differ.
//
// # Time
//
// The current day and the end of retention come from the database's clock, which all instances share. So an instance with a
// wrong clock drops no day too early and writes into no future day.
package store

import (
	"context"
	"embed"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the feed.
func Migrations() postgres.Migrations {
	return postgres.Embedded("events", files)
}

// Store is the feed. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	// clock replaces the database's clock in tests; otherwise it is nil.
	clock func() time.Time
	// appends collects the batches of all partitions that this process writes.
	appends *daemon.Batcher[*pendingBatch]

	lock sync.Mutex
	// days caches the days whose partition exists.
	days map[time.Time]bool
}

// New makes a store on a migrated database.
func New(pool *pgxpool.Pool) *Store {
	return NewAt(pool, nil)
}

// NewAt makes a store for tests with another clock than the database's.
func NewAt(pool *pgxpool.Pool, clock func() time.Time) *Store {
	s := &Store{pool: pool, clock: clock, days: map[time.Time]bool{}}
	s.appends = &daemon.Batcher[*pendingBatch]{
		Process: s.appendAll, Timeout: appendTimeout, MaxConcurrent: 1, MaxItems: maxBatches,
		Isolate: func(err error) bool { return postgres.State(err) != "" },
	}
	return s
}

const (
	// appendTimeout ends an append that takes too long; its batches are tried again.
	appendTimeout = 30 * time.Second
	// maxBatches is how many batches one transaction appends: they succeed or fail together.
	maxBatches = 16
)

// Day returns midnight UTC of t's day.
func Day(t time.Time) time.Time {
	const day = 24 * time.Hour
	return t.UTC().Truncate(day)
}

const readClock = `SELECT coalesce($1::timestamptz, clock_timestamp())`

func (s *Store) now(ctx context.Context) (now time.Time, err error) {
	if err := s.pool.QueryRow(ctx, readClock, s.nowOverride()).Scan(&now); err != nil {
		return now, fmt.Errorf("read clock of feed: %w", err)
	}
	return now, nil
}

// nowOverride is the time to use instead of the database's clock, or nil.
func (s *Store) nowOverride() *time.Time {
	if s.clock == nil {
		return nil
	}
	now := s.clock()
	return &now
}
