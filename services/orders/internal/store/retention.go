package store

import (
	"context"
	"fmt"
	"time"
)

const (
	// The time of an order's last change is that of its completion or cancellation: nothing else
	// changes an order afterwards. An order that was reopened is skipped.
	eraseDetails = `UPDATE orders SET details_sealed = '', details_erased_at = COALESCE($1::timestamptz, now())
WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM orders
  WHERE status IN ('COMPLETED', 'CANCELLED') AND details_erased_at IS NULL
    AND updated_at < COALESCE($1::timestamptz, now()) - $2::interval
  ORDER BY updated_at LIMIT $3 FOR UPDATE SKIP LOCKED)`

	deleteAudit = `DELETE FROM order_audit WHERE id IN (
  SELECT id FROM order_audit WHERE at < COALESCE($1::timestamptz, now()) - $2::interval
  ORDER BY at LIMIT $3 FOR UPDATE SKIP LOCKED)`
)

// EraseDetails erases the delivery details of up to limit orders that were completed or cancelled
// more than keep before now, and returns how many. now nil: the database's clock.
func (s *Store) EraseDetails(ctx context.Context, now *time.Time, keep time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, eraseDetails, now, keep, limit)
	if err != nil {
		return 0, fmt.Errorf("erase details: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// DeleteAudit deletes up to limit rows of the audit that are older than keep, which the schema
// refuses below a year, and returns how many. now nil: the database's clock.
func (s *Store) DeleteAudit(ctx context.Context, now *time.Time, keep time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, deleteAudit, now, keep, limit)
	if err != nil {
		return 0, fmt.Errorf("delete audit: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
