package store

import (
	"context"
	"errors"
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

// What the audit shows of records. It holds no personal data, so of a member neither name nor address.
type (
	tenantState struct {
		Name             string   `json:"name"`
		Locales          []string `json:"locales"`
		Currency         string   `json:"currency"`
		ApprovalRequired bool     `json:"approvalRequired"`
		APIAccess        bool     `json:"apiAccess"`
	}
	brandState struct {
		Name          string  `json:"name"`
		Slug          string  `json:"slug"`
		PrimaryColour *string `json:"primaryColour,omitempty"`
		LogoURL       *string `json:"logoUrl,omitempty"`
	}
	memberState struct {
		Role   string `json:"role"`
		Active bool   `json:"active"`
	}
	fieldState struct {
		Label    string   `json:"label"`
		Type     string   `json:"type"`
		Required bool     `json:"required"`
		Options  []string `json:"options"`
		Position int32    `json:"position"`
	}
)

// The states of records, in the order of the fields of their types. The record has the id $2.
const (
	selectTenantState = `SELECT name, locales, currency, approval_required, api_access FROM tenants WHERE id = $1 AND $2 = ''`
	selectBrandState  = `SELECT name, slug, primary_colour, logo_url FROM brands WHERE tenant_id = $1 AND id = $2`
	selectMemberState = `SELECT role, active FROM team_members WHERE tenant_id = $1 AND id = $2`
	selectFieldState  = `SELECT label, type, required, options, position FROM custom_fields WHERE tenant_id = $1 AND id = $2`
)

// readState is nil if there is no such record. The caller holds the lock of the tenant.
func readState[State any](ctx context.Context, tx pgx.Tx, query, tenantID, subject string) (*State, error) {
	rows, err := tx.Query(ctx, query, tenantID, subject)
	if err != nil {
		return nil, fmt.Errorf("read state before the change: %w", err)
	}
	state, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[State])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // There is no record yet.
	}
	if err != nil {
		return nil, fmt.Errorf("read state before the change: %w", err)
	}
	return state, nil
}

// edit is a change of a record of a tenant for the audit.
type edit[State any] struct {
	by     By
	action tenantsv1.TenantAction
	// subject is the id of the record; empty for the tenant itself.
	subject string
	// read is the query of the state before the change.
	read  string
	after State
}

// put replaces a record with one upsert, which changes no row if nothing differs.
func (e edit[State]) put(ctx context.Context, tx pgx.Tx, tenantID, upsert string, args ...any) (changed bool, err error) {
	before, err := readState[State](ctx, tx, e.read, tenantID, e.subject)
	if err != nil {
		return false, err
	}
	tag, err := tx.Exec(ctx, upsert, args...)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	return true, e.record(ctx, tx, tenantID, before)
}

const insertTenantAudit = `INSERT INTO tenant_audit (id, tenant_id, actor_kind, actor_id, action, subject_id, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

// record adds the edit to the audit in the transaction of its effect.
func (e edit[State]) record(ctx context.Context, tx pgx.Tx, tenantID string, before *State) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("id of audit entry: %w", err)
	}
	detail := struct {
		Before *State `json:"before,omitempty"`
		After  State  `json:"after"`
	}{before, e.after}
	if _, err := tx.Exec(ctx, insertTenantAudit, id.String(), tenantID, enumname.String(e.by.Actor.GetKind()), e.by.Actor.GetId(),
		enumname.String(e.action), e.subject, detail); err != nil {
		return fmt.Errorf("record change of tenant: %w", err)
	}
	return nil
}

// Changes of keys and off-boardings have tables of their own. Each table is read by the index of its tenant.
const selectTenantAudit = `SELECT id::text, at, actor_kind, actor_id, action, subject_id, detail::text FROM (
  (SELECT id, at, actor_kind, actor_id, action, subject_id, detail FROM tenant_audit
   WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (at, id) < ($2, $3::uuid)) ORDER BY at DESC, id DESC LIMIT $4)
  UNION ALL
  (SELECT id, at, actor_kind, actor_id, 'KEY_' || action, key_id::text, detail FROM key_audit
   WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (at, id) < ($2, $3::uuid)) ORDER BY at DESC, id DESC LIMIT $4)
  UNION ALL
  (SELECT lpad(to_hex(id), 32, '0')::uuid, at, actor_kind, actor_id, 'OFFBOARDING_' || action, '', '{}'::jsonb FROM offboarding_steps
   WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (at, lpad(to_hex(id), 32, '0')::uuid) < ($2, $3::uuid)))
) AS changes ORDER BY at DESC, changes.id DESC LIMIT $4`

// TenantAudit reads a page of the changes of a tenant, newest first.
func (s *Store) TenantAudit(
	ctx context.Context, tenantID string, by By, after *page.Position, limit int,
) (entries []*tenantsv1.TenantAuditEntry, err error) {
	at, id := bounds(after)
	err = s.read(ctx, tenantID, by, func(tx pgx.Tx) (err error) {
		entries, err = rowsOf(ctx, tx, scanTenantAudit, selectTenantAudit, tenantID, at, id, limit)
		return err
	})
	return entries, err
}

func scanTenantAudit(row pgx.CollectableRow) (*tenantsv1.TenantAuditEntry, error) {
	e := &tenantsv1.TenantAuditEntry{Actor: &commonv1.Actor{}}
	return e, row.Scan(&e.Id, postgres.ScanTime(&e.At), postgres.ScanEnum(&e.Actor.Kind), &e.Actor.Id,
		postgres.ScanEnum(&e.Action), &e.SubjectId, &e.Detail)
}

const (
	deleteKeyAudit = `DELETE FROM key_audit WHERE id IN (
  SELECT id FROM key_audit WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`
	deleteTenantAudit = `DELETE FROM tenant_audit WHERE id IN (
  SELECT id FROM tenant_audit WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`
)

// DeleteKeyAudit deletes up to limit changes of keys that are older than keep, which the schema refuses below a year, and returns
// how many.
func (s *Store) DeleteKeyAudit(ctx context.Context, keep time.Duration, limit int) (int, error) {
	return s.deleteOld(ctx, deleteKeyAudit, keep, limit)
}

// DeleteTenantAudit is DeleteKeyAudit for all other changes.
func (s *Store) DeleteTenantAudit(ctx context.Context, keep time.Duration, limit int) (int, error) {
	return s.deleteOld(ctx, deleteTenantAudit, keep, limit)
}

func (s *Store) deleteOld(ctx context.Context, sql string, keep time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, sql, keep, limit)
	if err != nil {
		return 0, fmt.Errorf("delete audit: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
