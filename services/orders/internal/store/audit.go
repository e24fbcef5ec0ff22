package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

const (
	insertAudit = `INSERT INTO order_audit (id, tenant_id, order_id, actor_kind, actor_id, operation,
  status_before, version_before, status_after, version_after)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

	// An order that does not exist adds no row.
	insertReadAudit = `INSERT INTO order_audit (id, tenant_id, order_id, actor_kind, actor_id, operation,
  status_before, version_before, status_after, version_after)
SELECT $1, tenant_id, id, $4, $5, $6, status, version, status, version FROM orders WHERE tenant_id = $2 AND id = $3`
)

// QueueAudit adds the row of an operation on an order to its transaction. before is nil for an order
// that is placed.
func QueueAudit(b *pgx.Batch, a rules.Audit, before, after *ordersv1.Order) {
	args := append(auditArgs(a), state(before)...)
	b.Queue(insertAudit, append(args, state(after)...)...)
}

// AuditRead records that an order is about to be read. It returns ErrNotFound when the tenant has no
// such order.
func (s *Store) AuditRead(ctx context.Context, a rules.Audit) error {
	tag, err := s.pool.Exec(ctx, insertReadAudit, auditArgs(a)...)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNotFound
	}
	return nil
}

// AuditSearch records that a search is about to run.
func (s *Store) AuditSearch(ctx context.Context, a rules.Audit) error {
	args := append(auditArgs(a), nil, nil, nil, nil)
	if _, err := s.pool.Exec(ctx, insertAudit, args...); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

func auditArgs(a rules.Audit) []any {
	return []any{
		uuid.Must(uuid.NewV7()).String(), postgres.Nullable(a.TenantID), postgres.Nullable(a.OrderID),
		enumname.String(a.Actor.GetKind()), a.Actor.GetId(), enumname.String(a.Operation),
	}
}

func state(o *ordersv1.Order) []any {
	if o == nil {
		return []any{nil, nil}
	}
	return []any{enumname.String(o.GetStatus()), o.GetVersion()}
}
