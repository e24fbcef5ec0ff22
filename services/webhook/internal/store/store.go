// Package store is the SQL of webhook delivery.
//
// Every time that is stored or compared is the database's, read when the transaction begins: all
// instances share that clock, and so none whose own is wrong takes a row whose lease still runs.
// Callers give and get durations. The one exception is when an attempt began, which only the log
// holds.
package store

import (
	"embed"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/batcher"
	"github.com/partnergifting/platform/pkg/postgres"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the service's own tables.
func Migrations() postgres.Migrations {
	return postgres.Embedded("webhook", files)
}

// Store reads and writes the deliveries.
type Store struct {
	pool *pgxpool.Pool
	// clock stands in for the database's; nil but in tests.
	clock func() time.Time
	// fanOuts are the batches of all partitions that this process fans out.
	fanOuts *batcher.Batcher[batch]
}

// New makes a store on a migrated database.
func New(pool *pgxpool.Pool) *Store { return NewAt(pool, nil) }

const (
	// fanOutTime ends a fan-out that hangs; its messages are tried again.
	fanOutTime = 30 * time.Second
	// maxTogether bounds the batches of one transaction, which share its fate.
	maxTogether = 16
)

// NewAt makes a store that takes the time from clock instead of the database, for tests that move
// it.
func NewAt(pool *pgxpool.Pool, clock func() time.Time) *Store {
	s := &Store{pool: pool, clock: clock}
	s.fanOuts = &batcher.Batcher[batch]{
		Process: s.fanOut, Timeout: fanOutTime, MaxConcurrent: 2, MaxItems: maxTogether,
		Isolate: func(err error) bool { return postgres.State(err) != "" },
	}
	return s
}

// now is the present in a statement whose first parameter is instead's. Unlike clock_timestamp() it
// can be looked up in an index.
const now = `coalesce($1::timestamptz, now())`

// instead is the time to take instead of the database's, or nil.
func (s *Store) instead() *time.Time {
	if s.clock == nil {
		return nil
	}
	t := s.clock()
	return &t
}

// Endpoint names a key's webhook.
type Endpoint struct {
	TenantID string
	KeyID    int32
}
