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

const insertAudit = `INSERT INTO key_audit (id, tenant_id, key_id, actor_kind, actor_id, action, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

// act is a change of a key for the audit.
type act struct {
	by            By
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
	if host := webhookHost(k.WebhookURL); host != nil {
		g.WebhookHost = *host
	}
	return g
}

// record adds the act to the audit in the transaction of its effect.
func (a act) record(ctx context.Context, tx pgx.Tx, tenantID string, keyID int32) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("id of audit entry: %w", err)
	}
	detail := struct {
		Before *grants `json:"before,omitempty"`
		After  *grants `json:"after,omitempty"`
	}{a.before, a.after}
	_, err = postgres.Exec(ctx, tx, "record change of key", insertAudit,
		id.String(), tenantID, keyID, enumname.String(a.by.Actor.GetKind()), a.by.Actor.GetId(), enumname.String(a.action), detail)
	return err
}

const selectAudit = `SELECT id::text, at, key_id, actor_kind, actor_id, action, detail::text FROM key_audit
WHERE tenant_id = $1 AND ($2::int IS NULL OR key_id = $2) AND ($3::timestamptz IS NULL OR (at, id) < ($3, $4::uuid))
ORDER BY at DESC, id DESC LIMIT $5`

// KeyAudit reads a page of the changes of a tenant's keys, newest first. With keyID nil it has those of all keys.
func (s *Store) KeyAudit(
	ctx context.Context, tenantID string, by By, keyID *int32, after *page.Position, limit int,
) (entries []*tenantsv1.KeyAuditEntry, err error) {
	at, id := bounds(after)
	err = s.read(ctx, tenantID, by, func(tx pgx.Tx) (err error) {
		entries, err = postgres.Select(ctx, tx, "list changes of keys", scanAudit, selectAudit, tenantID, keyID, at, id, limit)
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

func scanAudit(row pgx.CollectableRow) (*tenantsv1.KeyAuditEntry, error) {
	e := &tenantsv1.KeyAuditEntry{Actor: &commonv1.Actor{}}
	return e, row.Scan(&e.Id, postgres.ScanTime(&e.At), &e.KeyId, postgres.ScanEnum(&e.Actor.Kind), &e.Actor.Id,
		postgres.ScanEnum(&e.Action), &e.Detail)
}
