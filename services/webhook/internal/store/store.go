// Package store holds the schema of webhook delivery and all its statements.
//
// All times that are stored or compared come from the database's clock at the start of the transaction. So an instance with a
// wrong clock does not claim a row that is still leased. Callers pass and receive durations. The only exception is the start of
// an attempt, which is used only in the log.
//
// # Claims while an old snapshot is open
//
// An update leaves the row's old index entries behind. They cannot be removed while a snapshot is open that might still see the
// old row, such as that of a backup. A query that begins to read an index at such entries reads all of them: half a million
// finished deliveries cost it more than a second. So a claim begins behind them:
//
//   - It looks only for rows of given endpoints that became due at a given time or later. The caller knows that time: FanOut
//     returns when the rows were stored, and a claim where the due rows that it left begin.
//   - It counts the leases of other senders, one sender after the other, from the present time on, because a lease ends in the
//     future. The caller knows how many of its own deliveries are in flight. So the entries that it reads are at most those of
//     leases that other senders took for the endpoint within the last lease's length. Senders register for this. A claim of a
//     sender that has not registered, or whose registration was removed, returns nothing: the others would not count it.
//
// What no caller knows of, Discover finds. It is the only statement of the queue that reads all entries, and the limit per
// endpoint does not depend on it. A time that is too late can only make a row wait for the next Discover.
package store

import (
	"embed"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/daemon"
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
	// clock replaces the database's clock in tests; otherwise it is nil.
	clock func() time.Time
	// fanOuts collects the batches of all partitions that this process fans out.
	fanOuts *daemon.Batcher[*batch]
}

// New makes a store on a migrated database.
func New(pool *pgxpool.Pool) *Store { return NewAt(pool, nil) }

const (
	// fanOutTimeout ends a fan-out that takes too long; its messages are tried again.
	fanOutTimeout = 30 * time.Second
	// maxBatches is how many batches one transaction stores: they succeed or fail together.
	maxBatches = 16
)

// NewAt makes a store for tests with another clock than the database's.
func NewAt(pool *pgxpool.Pool, clock func() time.Time) *Store {
	s := &Store{pool: pool, clock: clock}
	s.fanOuts = &daemon.Batcher[*batch]{
		Process: s.fanOut, Timeout: fanOutTimeout, MaxConcurrent: 2, MaxItems: maxBatches,
		Isolate: func(err error) bool { return postgres.State(err) != "" },
	}
	return s
}

// now is the current time in a statement whose first parameter is nowOverride. Unlike clock_timestamp() it can
// be the bound of an index scan.
const now = `coalesce($1::timestamptz, now())`

// nowOverride is the time to use instead of the database's clock, or nil.
func (s *Store) nowOverride() *time.Time {
	if s.clock == nil {
		return nil
	}
	t := s.clock()
	return &t
}

// Endpoint is a key's webhook.
type Endpoint struct {
	TenantID string
	KeyID    int32
}

// DeliveryID identifies a delivery.
type DeliveryID struct {
	Endpoint
	EventID string
}

// idColumns are the ids as arrays, one per column.
func idColumns(ids []DeliveryID) (tenants, events postgres.UUIDs, keys []int32) {
	return postgres.UUIDColumn(ids, func(id DeliveryID) string { return id.TenantID }),
		postgres.UUIDColumn(ids, func(id DeliveryID) string { return id.EventID }),
		postgres.Column(ids, func(id DeliveryID) int32 { return id.KeyID })
}

// endpointColumns are the endpoints as arrays, one per column.
func endpointColumns(list []Endpoint) (tenants postgres.UUIDs, keys []int32) {
	return postgres.UUIDColumn(list, func(e Endpoint) string { return e.TenantID }),
		postgres.Column(list, func(e Endpoint) int32 { return e.KeyID })
}
