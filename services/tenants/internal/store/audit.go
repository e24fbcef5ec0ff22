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
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const insertAudit = `INSERT INTO tenant_audit (id, tenant_id, actor_kind, actor_id, action, subject_id, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

// auditedChange is a change for the audit, with what it shows of the record before and after; nil if there is nothing to show.
type auditedChange struct {
	by            Authorization
	action        tenantsv1.TenantAction
	before, after map[string]any
}

// record adds the change to the audit in the transaction of its effect. subject is the id of the changed record; empty for the
// tenant itself.
func (a auditedChange) record(ctx context.Context, tx pgx.Tx, tenantID, subject string) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("id of audit entry: %w", err)
	}
	detail := struct {
		Before map[string]any `json:"before,omitempty"`
		After  map[string]any `json:"after,omitempty"`
	}{a.before, a.after}
	_, err = postgres.Exec(ctx, tx, "record change", insertAudit, id.String(), tenantID,
		enumname.String(a.by.Actor.GetKind()), a.by.Actor.GetId(), enumname.String(a.action), subject, detail)
	return err
}

const (
	// Off-boardings have a table of their own, which is kept for ever. Each table is read by the index of its tenant.
	selectAudit = `SELECT id::text, at, actor_kind, actor_id, action, subject_id, detail::text FROM (
  (SELECT id, at, actor_kind, actor_id, action, subject_id, detail FROM tenant_audit
   WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (at, id) < ($2, $3::uuid)) ORDER BY at DESC, id DESC LIMIT $4)
  UNION ALL
  (SELECT lpad(to_hex(id), 32, '0')::uuid, at, actor_kind, actor_id, 'OFFBOARDING_' || action, '', '{}'::jsonb
   FROM offboarding_steps
   WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (at, lpad(to_hex(id), 32, '0')::uuid) < ($2, $3::uuid)))
) AS changes ORDER BY at DESC, changes.id DESC LIMIT $4`

	selectKeyAudit = `SELECT id::text, at, subject_id::int, actor_kind, actor_id, substr(action, length('KEY_') + 1), detail::text
FROM tenant_audit
WHERE tenant_id = $1 AND starts_with(action, 'KEY_') AND ($2::int IS NULL OR subject_id = $2::text)
  AND ($3::timestamptz IS NULL OR (at, id) < ($3, $4::uuid))
ORDER BY at DESC, id DESC LIMIT $5`
)

// TenantAudit reads a page of the changes of a tenant, newest first.
func (s *Store) TenantAudit(
	ctx context.Context, tenantID string, by Authorization, after *page.Position, limit int,
) (entries []*tenantsv1.TenantAuditEntry, err error) {
	at, id := bounds(after)
	err = s.readPermitted(ctx, tenantID, by, func(tx pgx.Tx) (err error) {
		entries, err = postgres.Select(ctx, tx, "list changes of tenant", scanTenantAudit, selectAudit, tenantID, at, id, limit)
		return err
	})
	return entries, err
}

// KeyAudit reads a page of the changes of a tenant's keys, newest first. With keyID nil it has those of all keys.
func (s *Store) KeyAudit(
	ctx context.Context, tenantID string, by Authorization, keyID *int32, after *page.Position, limit int,
) (entries []*tenantsv1.KeyAuditEntry, err error) {
	at, id := bounds(after)
	err = s.readPermitted(ctx, tenantID, by, func(tx pgx.Tx) (err error) {
		entries, err = postgres.Select(ctx, tx, "list changes of keys", scanKeyAudit, selectKeyAudit, tenantID, keyID, at, id, limit)
		return err
	})
	return entries, err
}

// bounds are the values of a position for SQL: NULL for the first page.
func bounds(after *page.Position) (at *time.Time, id *string) {
	if after == nil {
		return nil, nil
	}
	return &after.Time, &after.ID
}

func scanTenantAudit(row pgx.CollectableRow) (*tenantsv1.TenantAuditEntry, error) {
	e := &tenantsv1.TenantAuditEntry{Actor: &commonv1.Actor{}}
	return e, row.Scan(&e.Id, postgres.ScanTime(&e.At), postgres.ScanEnum(&e.Actor.Kind), &e.Actor.Id,
		postgres.ScanEnum(&e.Action), &e.SubjectId, &e.Detail)
}

func scanKeyAudit(row pgx.CollectableRow) (*tenantsv1.KeyAuditEntry, error) {
	e := &tenantsv1.KeyAuditEntry{Actor: &commonv1.Actor{}}
	return e, row.Scan(&e.Id, postgres.ScanTime(&e.At), &e.KeyId, postgres.ScanEnum(&e.Actor.Kind), &e.Actor.Id,
		postgres.ScanEnum(&e.Action), &e.Detail)
}

// Old is a statement that deletes rows that are older than a time, up to a limit.
type Old string

// The audit and the requests for persons, which the schema keeps for a year, and the secrets that no longer sign.
const (
	OldAudit Old = `DELETE FROM tenant_audit WHERE id IN (
  SELECT id FROM tenant_audit WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`

	OldPersonRequests Old = `DELETE FROM person_requests WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM person_requests WHERE completed_at < clock_timestamp() - $1::interval ORDER BY completed_at LIMIT $2)`

	OldSigning Old = `UPDATE api_keys SET previous_webhook_secret = NULL, previous_signs_until = NULL
WHERE id IN (
  SELECT id FROM api_keys WHERE previous_signs_until < now() - $1::interval
  ORDER BY previous_signs_until LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// Delete deletes up to limit rows that are older than the retention, and returns how many.
func (s *Store) Delete(ctx context.Context, rows Old, retention time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "delete old rows", string(rows), retention, limit)
}
