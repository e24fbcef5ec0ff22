// Package store keeps the event feed in PostgreSQL: a table partitioned by day, written by the
// consumers of Kafka and read by GET /events.
//
// # Order
//
// All events of a tenant lie in one Kafka partition. Append takes the partition's row lock before
// it reads a position from the sequence and holds it until it has committed. So of one tenant a
// higher position is always committed later, and a reader that goes on after the last position it
// saw skips nothing.
//
// # Duplicates
//
// Kafka delivers an event again after a failure, and the relay may publish one twice. Append drops
// an event whose id it has. It finds it because an event is never inserted on a day before it was
// recorded; one more day is allowed for clocks that differ.
//
// # Time
//
// What day it is and what is too old to keep is read from the database's clock, the one clock that
// all instances share: an instance whose own is wrong neither drops days nor writes into coming
// ones.
package store

import (
	"embed"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/together"
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
	// clock stands in for the database's; nil but in tests.
	clock func() time.Time
	// appends are the batches of all partitions that this process writes.
	appends *together.Runs[*appending]

	lock sync.Mutex
	// days are the partitions known to exist.
	days map[time.Time]bool
}

// New makes a store on a migrated database.
func New(pool *pgxpool.Pool) *Store {
	return NewAt(pool, nil)
}

// NewAt makes a store that takes the time from clock instead of the database, for tests that move
// it.
func NewAt(pool *pgxpool.Pool, clock func() time.Time) *Store {
	s := &Store{pool: pool, clock: clock, days: map[time.Time]bool{}}
	s.appends = &together.Runs[*appending]{
		Do: s.appendAll, Limit: appendTime, AtOnce: 1, Most: maxTogether,
		Apart: func(err error) bool { return postgres.State(err) != "" },
	}
	return s
}

const (
	// appendTime ends an append that hangs; its batches are tried again.
	appendTime = 30 * time.Second
	// maxTogether bounds the batches of one transaction, which share its fate.
	maxTogether = 16
)

// Day is midnight UTC of t's day: the form in which partitions are named.
func Day(t time.Time) time.Time {
	const day = 24 * time.Hour
	return t.UTC().Truncate(day)
}
