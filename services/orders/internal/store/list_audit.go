package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/cursor"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
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
	var at time.Time
	var kind, operation, after string
	var before *string
	err := row.Scan(&e.Id, &at, &kind, &e.ActorId, &operation, &before, &e.VersionBefore, &after, &e.VersionAfter)
	if err != nil {
		return nil, err
	}
	e.At = timestamppb.New(at)
	e.ActorKind = commonv1.ActorKind(commonv1.ActorKind_value["ACTOR_KIND_"+kind])
	e.Operation = ordersv1.Operation(ordersv1.Operation_value["OPERATION_"+operation])
	e.StatusAfter = ordersv1.OrderStatus(ordersv1.OrderStatus_value["ORDER_STATUS_"+after])
	if before != nil {
		e.StatusBefore = ordersv1.OrderStatus(ordersv1.OrderStatus_value["ORDER_STATUS_"+*before]).Enum()
	}
	return e, nil
}
