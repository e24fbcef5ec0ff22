package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const readClock = `SELECT coalesce($1::timestamptz, clock_timestamp())`

// queueClock adds reading the clock to a batch.
func (s *Store) queueClock(b *pgx.Batch, now *time.Time) {
	b.Queue(readClock, s.nowOverride()).QueryRow(func(row pgx.Row) error { return row.Scan(now) })
}

func (s *Store) now(ctx context.Context) (now time.Time, err error) {
	if err := s.pool.QueryRow(ctx, readClock, s.nowOverride()).Scan(&now); err != nil {
		return now, fmt.Errorf("read clock of feed: %w", err)
	}
	return now, nil
}

// nowOverride is the time to use instead of the database's, or nil.
func (s *Store) nowOverride() *time.Time {
	if s.clock == nil {
		return nil
	}
	now := s.clock()
	return &now
}
