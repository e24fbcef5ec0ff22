package store

import (
	"context"
	"fmt"
	"time"
)

const (
	// SKIP LOCKED: a reservation whose row is locked may be about to be reserved again.
	deleteReleased = `DELETE FROM reservations WHERE order_id IN (
  SELECT order_id FROM reservations WHERE state = 'RELEASED' AND expires_at < clock_timestamp() - $1::interval
  ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

	deleteAudit = `DELETE FROM catalog_audit WHERE id IN (
  SELECT id FROM catalog_audit WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`
)

// DeleteReleased deletes reservations that expired long ago and were released, and returns how many.
func (s *Store) DeleteReleased(ctx context.Context, keep time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, deleteReleased, keep, limit)
	if err != nil {
		return 0, fmt.Errorf("delete released reservations: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// DeleteAudit deletes old entries of the audit, and returns how many.
func (s *Store) DeleteAudit(ctx context.Context, keep time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, deleteAudit, keep, limit)
	if err != nil {
		return 0, fmt.Errorf("delete audit: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
