package store

import (
	"context"
	"net/url"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

var (
	recordColumns = tenantSettings.columns.For(shown | inRecord)

	selectRecords = `SELECT ` + recordColumns.Select() + ` FROM tenants `

	selectRecord = selectRecords + `WHERE id = $1`

	listRecords = selectRecords + `WHERE $1::timestamptz IS NULL OR (created_at, id) < ($1, $2::uuid)
ORDER BY created_at DESC, id DESC LIMIT $3`

	selectWholeTeam = team.read + ` WHERE tenant_id = $1 ORDER BY lower(name), id`

	keyRecordColumns = keys.For(shown | inRecord)

	listKeys = `SELECT ` + keyRecordColumns.Select() + ` FROM api_keys
WHERE tenant_id = $1 AND ($2 OR revoked_at IS NULL) AND ($3::int IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`
)

// Tenants reads a page of all tenants, newest first.
func (s *Store) Tenants(ctx context.Context, after *page.Position, limit int) ([]*tenantsv1.TenantRecord, error) {
	at, id := bounds(after)
	return postgres.Select(ctx, s.pool, "list tenants", scanRecord, listRecords, at, id, limit)
}

func scanRecord(row pgx.CollectableRow) (*tenantsv1.TenantRecord, error) {
	r := tenantSettings.blank()
	err := row.Scan(recordColumns.Targets(r)...)
	r.record.Tenant = r.Tenant
	return r.record, err
}

// Tenant reads a tenant with its brands, team and custom fields.
func (s *Store) Tenant(ctx context.Context, tenantID string, by Authorization) (*tenantsv1.GetTenantResponse, error) {
	out := &tenantsv1.GetTenantResponse{}
	return out, s.readPermitted(ctx, tenantID, by, func(tx pgx.Tx) (err error) {
		if out.Tenant, err = postgres.SelectOne(ctx, tx, "read tenant", ErrNotFound, scanRecord, selectRecord, tenantID); err != nil {
			return err
		}
		b := &pgx.Batch{}
		postgres.QueueSelect(b, &out.Brands, scanBrand, selectBrands, tenantID, true, []string{})
		postgres.QueueSelect(b, &out.GiftSites, scanGiftSite, selectGiftSites, tenantID)
		postgres.QueueSelect(b, &out.Team, scanMember, selectWholeTeam, tenantID)
		postgres.QueueSelect(b, &out.CustomFields, scanPlacedField, selectFields, tenantID)
		return tx.SendBatch(ctx, b).Close()
	})
}

func scanPlacedField(row pgx.CollectableRow) (*tenantsv1.PlacedField, error) {
	r, err := customFields.scan(row)
	return &tenantsv1.PlacedField{Field: r.CustomField, Position: r.position}, err
}

// KeyList selects keys of a tenant.
type KeyList struct {
	TenantID string
	// Revoked also selects revoked keys.
	Revoked bool
	// After is the id of the last key of the previous page; nil: the first page.
	After *int32
	Limit int
}

// Keys reads a page of the keys, newest first. Whole is the permission to see webhook URLs with their paths.
func (s *Store) Keys(
	ctx context.Context, by Authorization, whole caller.Permission, l KeyList,
) (found []*tenantsv1.KeyRecord, err error) {
	err = s.readPermitted(ctx, l.TenantID, by, func(tx pgx.Tx) error {
		if err := requireTenant(ctx, tx, l.TenantID); err != nil {
			return err
		}
		members, err := by.actingMember(ctx, tx, l.TenantID)
		if err != nil {
			return err
		}
		found, err = postgres.Select(ctx, tx, "list keys", scanKeyRecord, listKeys, l.TenantID, l.Revoked, l.After, l.Limit)
		if err != nil {
			return err
		}
		if whole.Check(by.Actor, members) != nil {
			for _, k := range found {
				k.Key.WebhookUrl = nil
			}
		}
		return nil
	})
	return found, err
}

func scanKeyRecord(row pgx.CollectableRow) (*tenantsv1.KeyRecord, error) {
	r := &keyRow{}
	err := row.Scan(keyRecordColumns.Targets(r)...)
	r.Scopes = enumname.ParseAll[commonv1.Scope](r.scopes)
	return &tenantsv1.KeyRecord{
		Key: r.Proto(), WebhookHost: webhookHost(r.WebhookURL), CreatedAt: r.createdAt, RevokedAt: r.revokedAt,
	}, err
}

// webhookHost is all of a webhook URL that anyone may see: its path may be a secret.
func webhookHost(webhookURL *string) *string {
	if webhookURL == nil {
		return nil
	}
	parsed, err := url.Parse(*webhookURL)
	if err != nil {
		return nil
	}
	return &parsed.Host
}
