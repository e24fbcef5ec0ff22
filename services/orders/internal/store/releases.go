package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	selectReleasing = `SELECT order_id FROM reservation_outcomes WHERE outcome = 'RELEASING' ORDER BY order_id LIMIT $1`

	markReleased = `UPDATE reservation_outcomes SET outcome = 'RELEASED', decided_at = now()
WHERE order_id = ANY($1::uuid[]) AND outcome = 'RELEASING'`

	deleteOver = `DELETE FROM reservation_outcomes WHERE order_id IN (
  SELECT order_id FROM reservation_outcomes
  WHERE outcome IN ('RELEASED', 'ABANDONED') AND decided_at < now() - $1::interval
  ORDER BY decided_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// Releasing lists holds of cancelled orders that catalog is still to be told of.
func (s *Store) Releasing(ctx context.Context, limit int) ([]string, error) {
	rows, err := s.pool.Query(ctx, selectReleasing, limit)
	if err != nil {
		return nil, fmt.Errorf("read releases: %w", err)
	}
	holds, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read releases: %w", err)
	}
	return holds, nil
}

// MarkReleased notes that catalog was told.
func (s *Store) MarkReleased(ctx context.Context, holds []string) error {
	if _, err := s.pool.Exec(ctx, markReleased, holds); err != nil {
		return fmt.Errorf("mark released: %w", err)
	}
	return nil
}

// DeleteOutcomes deletes up to limit outcomes that have been over for longer than keep, by the
// database's clock, and tells how many.
func (s *Store) DeleteOutcomes(ctx context.Context, keep time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, deleteOver, keep, limit)
	if err != nil {
		return 0, fmt.Errorf("delete outcomes: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
