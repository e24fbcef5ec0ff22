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
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Act is an operation on a gift or a campaign, for the audit.
type Act struct {
	// TenantID is empty for a change of a gift for all tenants.
	TenantID string
	Actor    *commonv1.Actor
	Action   string
	Subject  string
	// Detail is stored as JSON.
	Detail any
}

const insertAudit = `INSERT INTO catalog_audit (tenant_id, id, actor_kind, actor_id, action, subject_id, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

// record writes the act in the transaction of its effect.
func (a Act) record(ctx context.Context, tx pgx.Tx) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("id of audit entry: %w", err)
	}
	return a.recordAs(ctx, tx, id.String())
}

func (a Act) recordAs(ctx context.Context, tx pgx.Tx, id string) error {
	if a.Detail == nil {
		a.Detail = struct{}{}
	}
	_, err := postgres.Exec(ctx, tx, "record act", insertAudit, a.row(id)...)
	return err
}

// row are the arguments of insertAudit.
func (a Act) row(id string) []any {
	return []any{
		postgres.Nullable(a.TenantID), id, enumname.String(a.Actor.GetKind()), a.Actor.GetId(), a.Action, a.Subject, a.Detail,
	}
}

// Audit reads a page of the acts on a gift or a campaign, newest first.
func (s *Store) Audit(ctx context.Context, subject string, after *page.Position, limit int) ([]*catalogv1.AuditEntry, error) {
	var w postgres.Where
	w.And("subject_id = ?", subject)
	if after != nil {
		w.And("(at, id) < (?, ?)", after.Time, after.ID)
	}
	sql := "SELECT id::text, at, actor_kind, actor_id, action, detail::text FROM catalog_audit WHERE " + w.SQL() +
		" ORDER BY at DESC, id DESC LIMIT " + w.Arg(limit)
	return postgres.Select(ctx, s.pool, "read audit", func(row pgx.CollectableRow) (*catalogv1.AuditEntry, error) {
		e := &catalogv1.AuditEntry{Actor: &commonv1.Actor{}}
		return e, row.Scan(&e.Id, postgres.ScanTime(&e.At), postgres.ScanEnum(&e.Actor.Kind), &e.Actor.Id, &e.Action, &e.Detail)
	}, sql, w.Args()...)
}

// Old is a statement that deletes rows that are older than a time, up to a limit.
type Old string

const (
	// OldReleased deletes reservations that expired long ago and were released. Locked rows are skipped: such a reservation may be
	// about to be reserved again.
	OldReleased Old = `DELETE FROM reservations WHERE order_id IN (
  SELECT order_id FROM reservations WHERE state = 'RELEASED' AND expires_at < clock_timestamp() - $1::interval
  ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

	// OldAudit deletes entries of the audit.
	OldAudit Old = `DELETE FROM catalog_audit WHERE id IN (
  SELECT id FROM catalog_audit WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`
)

// Delete deletes up to limit rows that are older than the retention, and returns how many.
func (s *Store) Delete(ctx context.Context, rows Old, retention time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "delete old rows", string(rows), retention, limit)
}
