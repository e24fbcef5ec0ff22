package store

import (
	"context"
	"fmt"
	"time"
)

// Outstanding counts the units held for orders about to commit.
type Outstanding struct {
	// Units is at most MaxCounted.
	Units int64
	// Overdue is how long the oldest of them is past its expiry.
	Overdue time.Duration
}

// MaxCounted bounds the count of outstanding units.
const MaxCounted = 100_000

// In the order of the index for expired reservations.
const selectOutstanding = `
SELECT count(*), greatest(interval '0', coalesce(clock_timestamp() - min(expires_at), interval '0'))
  FROM (SELECT expires_at FROM reservations WHERE state = 'RESERVED' ORDER BY expires_at, order_id LIMIT $1) held`

// Outstanding reads the units held now.
func (s *Store) Outstanding(ctx context.Context) (o Outstanding, err error) {
	if err := s.pool.QueryRow(ctx, selectOutstanding, MaxCounted).Scan(&o.Units, &o.Overdue); err != nil {
		return o, fmt.Errorf("count outstanding reservations: %w", err)
	}
	return o, nil
}
