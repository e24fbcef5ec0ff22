package store

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// unknownActor is recorded for a call that named nobody.
const unknownActor = "UNKNOWN"

const insertAudit = `INSERT INTO key_audit (id, tenant_id, key_id, actor_kind, actor_id, action, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

// act is a change of a key for the audit. The actor may be nil.
type act struct {
	actor         *commonv1.Actor
	action        tenantsv1.KeyAction
	before, after *grants
}

// grants are what the audit shows of a key. A webhook URL may have a secret in its path, so only its host is recorded.
type grants struct {
	Name        string   `json:"name"`
	Scopes      []string `json:"scopes"`
	AllBrands   bool     `json:"allBrands"`
	BrandIDs    []string `json:"brandIds"`
	WebhookHost string   `json:"webhookHost,omitempty"`
}

func grantsOf(k Key) *grants {
	g := &grants{Name: k.Name, Scopes: enumname.Strings(k.Scopes), AllBrands: k.AllBrands, BrandIDs: list(k.BrandIDs)}
	if k.WebhookURL != nil {
		if parsed, err := url.Parse(*k.WebhookURL); err == nil {
			g.WebhookHost = parsed.Host
		}
	}
	return g
}

// record adds the act to the audit in the transaction of its effect.
func (a act) record(ctx context.Context, tx pgx.Tx, tenantID string, keyID int32) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("id of audit entry: %w", err)
	}
	kind := unknownActor
	if a.actor != nil {
		kind = enumname.String(a.actor.GetKind())
	}
	detail := struct {
		Before *grants `json:"before,omitempty"`
		After  *grants `json:"after,omitempty"`
	}{a.before, a.after}
	if _, err := tx.Exec(ctx, insertAudit,
		id.String(), tenantID, keyID, kind, a.actor.GetId(), enumname.String(a.action), detail); err != nil {
		return fmt.Errorf("record change of key: %w", err)
	}
	return nil
}

const selectAudit = `SELECT id::text, at, key_id, actor_kind, actor_id, action, detail::text FROM key_audit
WHERE tenant_id = $1 AND ($2::int IS NULL OR key_id = $2) AND ($3::timestamptz IS NULL OR (at, id) < ($3, $4::uuid))
ORDER BY at DESC, id DESC LIMIT $5`

// KeyAudit reads a page of the changes of a tenant's keys, newest first. With keyID nil it has those of all keys.
func (s *Store) KeyAudit(
	ctx context.Context, tenantID string, keyID *int32, after *cursor.Position, limit int,
) ([]*tenantsv1.KeyAuditEntry, error) {
	var at *time.Time
	var id *string
	if after != nil {
		at, id = &after.Time, &after.ID
	}
	rows, err := s.pool.Query(ctx, selectAudit, tenantID, keyID, at, id, limit)
	if err != nil {
		return nil, fmt.Errorf("list audit: %w", err)
	}
	entries, err := pgx.CollectRows(rows, scanAudit)
	if err != nil {
		return nil, fmt.Errorf("list audit: %w", err)
	}
	return entries, nil
}

func scanAudit(row pgx.CollectableRow) (*tenantsv1.KeyAuditEntry, error) {
	e := &tenantsv1.KeyAuditEntry{}
	var kind, id string
	err := row.Scan(&e.Id, postgres.ScanTime(&e.At), &e.KeyId, &kind, &id, postgres.ScanEnum(&e.Action), &e.Detail)
	if known, ok := enumname.Parse[commonv1.ActorKind](kind); ok {
		e.Actor = &commonv1.Actor{Kind: known, Id: id}
	}
	return e, err
}

const deleteAudit = `DELETE FROM key_audit WHERE id IN (
  SELECT id FROM key_audit WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`

// DeleteAudit deletes up to limit entries of the audit that are older than keep, which the schema refuses below a year, and
// returns how many.
func (s *Store) DeleteAudit(ctx context.Context, keep time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, deleteAudit, keep, limit)
	if err != nil {
		return 0, fmt.Errorf("delete audit: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
