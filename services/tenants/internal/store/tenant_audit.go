package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const insertTenantAudit = `INSERT INTO tenant_audit (id, tenant_id, actor_kind, actor_id, action, subject_id, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

// Changes of keys and off-boardings have tables of their own. Each table is read by the index of its tenant.
const selectTenantAudit = `SELECT id::text, at, actor_kind, actor_id, action, subject_id, detail::text FROM (
  (SELECT id, at, actor_kind, actor_id, action, subject_id, detail FROM tenant_audit
   WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (at, id) < ($2, $3::uuid)) ORDER BY at DESC, id DESC LIMIT $4)
  UNION ALL
  (SELECT id, at, actor_kind, actor_id, 'KEY_' || action, key_id::text, detail FROM key_audit
   WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (at, id) < ($2, $3::uuid)) ORDER BY at DESC, id DESC LIMIT $4)
  UNION ALL
  (SELECT lpad(to_hex(id), 32, '0')::uuid, at, actor_kind, actor_id, 'OFFBOARDING_' || action, '', '{}'::jsonb
   FROM offboarding_steps
   WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (at, lpad(to_hex(id), 32, '0')::uuid) < ($2, $3::uuid)))
) AS changes ORDER BY at DESC, changes.id DESC LIMIT $4`

// TenantAudit reads a page of the changes of a tenant, newest first.
func (s *Store) TenantAudit(
	ctx context.Context, tenantID string, by By, after *page.Position, limit int,
) (entries []*tenantsv1.TenantAuditEntry, err error) {
	at, id := bounds(after)
	err = s.read(ctx, tenantID, by, func(tx pgx.Tx) (err error) {
		entries, err = postgres.Select(ctx, tx, "list changes of tenant", scanTenantAudit, selectTenantAudit, tenantID, at, id, limit)
		return err
	})
	return entries, err
}

func scanTenantAudit(row pgx.CollectableRow) (*tenantsv1.TenantAuditEntry, error) {
	e := &tenantsv1.TenantAuditEntry{Actor: &commonv1.Actor{}}
	return e, row.Scan(&e.Id, postgres.ScanTime(&e.At), postgres.ScanEnum(&e.Actor.Kind), &e.Actor.Id,
		postgres.ScanEnum(&e.Action), &e.SubjectId, &e.Detail)
}

// Old is a statement that deletes rows that are older than a time, up to a limit.
type Old string

// The audits and the requests for persons, which the schema keeps for a year, and the secrets that no longer sign.
const (
	OldKeyAudit Old = `DELETE FROM key_audit WHERE id IN (
  SELECT id FROM key_audit WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`

	OldTenantAudit Old = `DELETE FROM tenant_audit WHERE id IN (
  SELECT id FROM tenant_audit WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`

	OldPersonRequests Old = `DELETE FROM person_requests WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM person_requests WHERE completed_at < clock_timestamp() - $1::interval ORDER BY completed_at LIMIT $2)`

	OldSigning Old = `UPDATE api_keys SET previous_webhook_secret = NULL, previous_signs_until = NULL
WHERE id IN (
  SELECT id FROM api_keys WHERE previous_signs_until < now() - $1::interval
  ORDER BY previous_signs_until LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// Delete deletes up to limit rows that are older than keep, and returns how many.
func (s *Store) Delete(ctx context.Context, rows Old, keep time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "delete old rows", string(rows), keep, limit)
}
