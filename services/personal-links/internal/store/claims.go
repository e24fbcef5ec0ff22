package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// Mark says that a claim is about to place the order, and gives it lease to do so. Where the link
// cannot be claimed, or another claim came first, it is given as it is.
func (s *Store) Mark(ctx context.Context, tenantID, id, orderID string, lease time.Duration) (*rules.Link, error) {
	return s.Update(ctx, tenantID, id, func(l *rules.Link) (*Change, error) {
		if !l.Mark(orderID) {
			return nil, nil //nolint:nilnil // Nothing changes.
		}
		return &Change{Lease: lease}, nil
	})
}

// Finish ends the link with the order that its claim has placed.
func (s *Store) Finish(ctx context.Context, tenantID, id, orderID string, now time.Time) (*rules.Link, error) {
	return s.Update(ctx, tenantID, id, func(l *rules.Link) (*Change, error) {
		if !l.Claim(orderID, now) {
			return nil, nil //nolint:nilnil // It was finished before.
		}
		return &Change{Event: rules.EventClaimed}, nil
	})
}

// Clear opens the link again after its claim placed no order and never will.
func (s *Store) Clear(ctx context.Context, tenantID, id, orderID string) (*rules.Link, error) {
	return s.Update(ctx, tenantID, id, func(l *rules.Link) (*Change, error) {
		if !l.Unmark(orderID) {
			return nil, nil //nolint:nilnil // It was cleared before.
		}
		return &Change{}, nil
	})
}

// Several instances share the work: each takes other links, and for no longer than the lease.
const takeStale = `UPDATE links l SET claim_lease_until = now() + $1::interval
FROM (
  SELECT tenant_id, id FROM links WHERE claim_order_id IS NOT NULL AND claim_lease_until < now()
  ORDER BY claim_lease_until LIMIT $2 FOR UPDATE SKIP LOCKED
) stale
WHERE l.tenant_id = stale.tenant_id AND l.id = stale.id
RETURNING l.tenant_id, l.id, l.claim_order_id`

// TakeStale gives links whose claim was not ended within its lease, and takes a new one on them. They
// have what a settlement needs and nothing sealed, so that one that does not open holds up no other.
func (s *Store) TakeStale(ctx context.Context, lease time.Duration, limit int) ([]*rules.Link, error) {
	rows, err := s.pool.Query(ctx, takeStale, lease, limit)
	if err != nil {
		return nil, fmt.Errorf("take stale claims: %w", err)
	}
	links, err := pgx.CollectRows(rows, scanStale)
	if err != nil {
		return nil, fmt.Errorf("take stale claims: %w", err)
	}
	return links, nil
}

func scanStale(row pgx.CollectableRow) (*rules.Link, error) {
	l := &rules.Link{Record: &linksv1.PersonalLink{}, ClaimStale: true}
	return l, row.Scan(&l.TenantID, &l.Record.Id, &l.ClaimOrderID)
}
