package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const selectAudit = `SELECT id, at, actor_kind, actor_id, operation, status_before, version_before, status_after, version_after
FROM order_audit WHERE tenant_id = $1 AND order_id = $2 AND (at, id) > ($3, $4)
ORDER BY at, id LIMIT $5`

// firstID sorts before every id.
const firstID = "00000000-0000-0000-0000-000000000000"

// ListAudit reads a page of an order's audit, oldest first; after nil: from the first entry.
func (s *Store) ListAudit(
	ctx context.Context, tenantID, orderID string, after *cursor.Position, limit int,
) ([]*ordersv1.AuditEntry, error) {
	if after == nil {
		after = &cursor.Position{ID: firstID}
	}
	rows, err := s.pool.Query(ctx, selectAudit, tenantID, orderID, after.Time, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("list audit: %w", err)
	}
	entries, err := pgx.CollectRows(rows, scanAudit)
	if err != nil {
		return nil, fmt.Errorf("list audit: %w", err)
	}
	return entries, nil
}

func scanAudit(row pgx.CollectableRow) (*ordersv1.AuditEntry, error) {
	e := &ordersv1.AuditEntry{}
	var before ordersv1.OrderStatus
	err := row.Scan(&e.Id, postgres.ScanTime(&e.At), postgres.ScanEnum(&e.ActorKind), &e.ActorId, postgres.ScanEnum(&e.Operation),
		postgres.ScanEnum(&before), &e.VersionBefore, postgres.ScanEnum(&e.StatusAfter), &e.VersionAfter)
	e.StatusBefore = postgres.Nullable(before)
	return e, err
}
