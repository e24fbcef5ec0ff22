package store

import (
	"cmp"
	"context"
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
	// ID of the entry. If it is empty, a new one is made.
	ID string
	// TenantID is empty for a change of a gift for all tenants.
	TenantID string
	Actor    *commonv1.Actor
	Action   string
	Subject  string
	// Detail is stored as JSON.
	Detail any
}

// record writes the act in the transaction of its effect.
func (a Act) record(ctx context.Context, tx pgx.Tx) error {
	sql, args := a.insert()
	_, err := postgres.Exec(ctx, tx, "record act", sql, args...)
	return err
}

// queue adds the statement of record to a batch.
func (a Act) queue(b *pgx.Batch) {
	sql, args := a.insert()
	b.Queue(sql, args...)
}

func (a Act) insert() (sql string, args []any) {
	if a.Detail == nil {
		a.Detail = struct{}{}
	}
	id := cmp.Or(a.ID, uuid.Must(uuid.NewV7()).String())
	sql = `INSERT INTO catalog_audit (tenant_id, id, actor_kind, actor_id, action, subject_id, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7)`
	return sql, []any{
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
