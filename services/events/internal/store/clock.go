package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const readClock = `SELECT coalesce($1::timestamptz, clock_timestamp())`

// queueClock adds the reading of the feed's one clock to a batch.
func (s *Store) queueClock(b *pgx.Batch, now *time.Time) {
	b.Queue(readClock, s.instead()).QueryRow(func(row pgx.Row) error { return row.Scan(now) })
}

func (s *Store) now(ctx context.Context) (now time.Time, err error) {
	if err := s.pool.QueryRow(ctx, readClock, s.instead()).Scan(&now); err != nil {
		return now, fmt.Errorf("read clock of feed: %w", err)
	}
	return now, nil
}

// instead is the time to take instead of the database's, or nil.
func (s *Store) instead() *time.Time {
	if s.clock == nil {
		return nil
	}
	now := s.clock()
	return &now
}
