package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

const (
	insertAudit = `INSERT INTO order_audit (id, tenant_id, order_id, actor_kind, actor_id, operation,
  status_before, version_before, status_after, version_after)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

	// For an unknown order no row is added.
	insertReadAudit = `INSERT INTO order_audit (id, tenant_id, order_id, actor_kind, actor_id, operation,
  status_before, version_before, status_after, version_after)
SELECT $1, tenant_id, id, $4, $5, $6, status, version, status, version FROM orders WHERE tenant_id = $2 AND id = $3`
)

// QueueAudit adds the audit row of an operation to its transaction. before is nil for a new order.
func QueueAudit(b *pgx.Batch, a rules.Audit, before, after *ordersv1.Order) {
	args := append(auditArgs(a), state(before)...)
	b.Queue(insertAudit, append(args, state(after)...)...)
}

const countAudit = `SELECT count(*) FROM order_audit
WHERE tenant_id = $1 AND order_id = $2 AND actor_kind = $3 AND actor_id = $4 AND operation = $5`

// QueueAuditCount counts the audit rows of an operation on an order by an actor.
func QueueAuditCount(b *pgx.Batch, a rules.Audit, into *int) {
	b.Queue(countAudit, a.TenantID, a.OrderID, enumname.String(a.Actor.GetKind()), a.Actor.GetId(), enumname.String(a.Operation)).
		QueryRow(func(row pgx.Row) error { return row.Scan(into) })
}

// AuditRead records that an order is about to be read. It returns ErrNotFound if the tenant has no such order.
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
	_, err := postgres.Exec(ctx, s.pool, "audit", insertAudit, args...)
	return err
}

func auditArgs(a rules.Audit) []any {
	return []any{
		uuid.Must(uuid.NewV7()).String(), postgres.Nullable(a.TenantID), postgres.Nullable(a.OrderID),
		enumname.String(a.Actor.GetKind()), auditedID(a.Actor), enumname.String(a.Operation),
	}
}

// auditedID is the id of an actor in the audit. That of a tenant's client is only in its messages, because the client may be the
// person of an order who is erased, and the audit cannot be changed.
func auditedID(a *commonv1.Actor) string {
	if a.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT {
		return ""
	}
	return a.GetId()
}

func state(o *ordersv1.Order) []any {
	if o == nil {
		return []any{nil, nil}
	}
	return []any{enumname.String(o.GetStatus()), o.GetVersion()}
}

const selectAudit = `SELECT id, at, actor_kind, actor_id, operation, status_before, version_before, status_after, version_after
FROM order_audit WHERE tenant_id = $1 AND order_id = $2 AND (at, id) > ($3, $4)
ORDER BY at, id LIMIT $5`

// firstID sorts before every other id.
const firstID = "00000000-0000-0000-0000-000000000000"

// ListAudit reads a page of an order's audit, oldest first. With after nil it starts at the first entry.
func (s *Store) ListAudit(
	ctx context.Context, tenantID, orderID string, after *page.Position, limit int,
) ([]*ordersv1.AuditEntry, error) {
	if after == nil {
		after = &page.Position{ID: firstID}
	}
	return postgres.Select(ctx, s.pool, "list audit", scanAudit, selectAudit, tenantID, orderID, after.Time, after.ID, limit)
}

func scanAudit(row pgx.CollectableRow) (*ordersv1.AuditEntry, error) {
	e := &ordersv1.AuditEntry{}
	var before ordersv1.OrderStatus
	err := row.Scan(&e.Id, postgres.ScanTime(&e.At), postgres.ScanEnum(&e.ActorKind), &e.ActorId, postgres.ScanEnum(&e.Operation),
		postgres.ScanEnum(&before), &e.VersionBefore, postgres.ScanEnum(&e.StatusAfter), &e.VersionAfter)
	e.StatusBefore = postgres.Nullable(before)
	return e, err
}

// The versions of an order grow, even if a clock steps back.
const selectStatusChanges = `SELECT at, status_before, status_after FROM order_audit
WHERE tenant_id = $1 AND order_id = $2 AND status_before <> status_after ORDER BY version_after`

// ClaimHistory is what has happened to a claimed order.
type ClaimHistory struct {
	// Changes are those of its status by its audit, the oldest first.
	Changes []rules.StatusChange
	// Thanks is what its player has written; nil: nothing yet.
	Thanks *PostedMessage
}

// ClaimHistory reads the history of a claimed order.
func (s *Store) ClaimHistory(ctx context.Context, tenantID, orderID string) (h ClaimHistory, err error) {
	b := &pgx.Batch{}
	s.QueueClaimHistory(b, tenantID, orderID, &h)
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return h, fmt.Errorf("read history of a claimed order: %w", err)
	}
	return h, nil
}

// QueueClaimHistory adds the reads of ClaimHistory to a batch.
func (s *Store) QueueClaimHistory(b *pgx.Batch, tenantID, orderID string, into *ClaimHistory) {
	postgres.QueueSelect(b, &into.Changes, func(row pgx.CollectableRow) (c rules.StatusChange, err error) {
		return c, row.Scan(postgres.ScanTime(&c.At), postgres.ScanEnum(&c.Before), postgres.ScanEnum(&c.After))
	}, selectStatusChanges, tenantID, orderID)
	s.QueueFindMessage(b, tenantID, rules.ThanksID(orderID), &into.Thanks)
}

const (
	// The last change of a completed or cancelled order is its completion or cancellation. A reopened order has another status
	// and is skipped.
	eraseDetails = `UPDATE orders SET details_sealed = '', details_erased_at = now()
WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM orders
  WHERE status IN ('COMPLETED', 'CANCELLED') AND details_erased_at IS NULL
    AND updated_at < now() - $1::interval
  ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

	deleteAudit = `DELETE FROM order_audit WHERE id IN (
  SELECT id FROM order_audit WHERE at < now() - $1::interval
  ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// EraseDetails erases the delivery details of up to limit orders that were completed or cancelled longer ago than keep by the
// database's clock, and returns how many.
func (s *Store) EraseDetails(ctx context.Context, keep time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "erase details", eraseDetails, keep, limit)
}

// DeleteAudit deletes up to limit rows of the audit that are older than keep by the database's clock, and returns how many. The
// schema refuses to delete rows of the last year.
func (s *Store) DeleteAudit(ctx context.Context, keep time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "delete audit", deleteAudit, keep, limit)
}
