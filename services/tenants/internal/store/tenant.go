package store

import (
	"context"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	selectRecords = `SELECT t.id, t.name, t.locales, t.currency, t.approval_required, t.api_access, t.created_at, coalesce(o.state, '')
FROM tenants t LEFT JOIN offboardings o ON o.tenant_id = t.id `

	selectRecord = selectRecords + `WHERE t.id = $1`

	listRecords = selectRecords + `WHERE $1::timestamptz IS NULL OR (t.created_at, t.id) < ($1, $2::uuid)
ORDER BY t.created_at DESC, t.id DESC LIMIT $3`

	selectWholeTeam = `SELECT id, name, email, role, active FROM team_members WHERE tenant_id = $1 ORDER BY lower(name), id`

	selectPlacedFields = `SELECT id, label, type, required, options, position FROM custom_fields
WHERE tenant_id = $1 ORDER BY position, id`

	listKeys = `SELECT id, name, prefix, scopes, all_brands, brand_ids, webhook_url, created_at, revoked_at FROM api_keys
WHERE tenant_id = $1 AND ($2 OR revoked_at IS NULL) AND ($3::int IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`
)

// Tenants reads a page of all tenants, newest first.
func (s *Store) Tenants(ctx context.Context, after *page.Position, limit int) ([]*tenantsv1.TenantRecord, error) {
	at, id := bounds(after)
	rows, err := s.pool.Query(ctx, listRecords, at, id, limit)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRecord)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	return found, nil
}

func scanRecord(row pgx.CollectableRow) (*tenantsv1.TenantRecord, error) {
	t := &tenantsv1.Tenant{}
	r := &tenantsv1.TenantRecord{Tenant: t}
	var state string
	err := row.Scan(&t.Id, &t.Name, &t.Locales, &t.Currency, &t.ApprovalRequired, &r.ApiAccess, postgres.ScanTime(&r.CreatedAt), &state)
	r.Offboarding, _ = enumname.Parse[tenantsv1.OffboardingState](state)
	return r, err
}

// Tenant reads a tenant with its brands, team and custom fields.
func (s *Store) Tenant(ctx context.Context, tenantID string, by By) (*tenantsv1.GetTenantResponse, error) {
	out := &tenantsv1.GetTenantResponse{}
	return out, s.read(ctx, tenantID, by, func(tx pgx.Tx) error {
		records, err := rowsOf(ctx, tx, scanRecord, selectRecord, tenantID)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			return ErrNotFound
		}
		out.Tenant = records[0]
		if out.Brands, err = rowsOf(ctx, tx, scanBrand, selectBrands, tenantID, true, []string{}); err != nil {
			return err
		}
		if out.GiftSites, err = rowsOf(ctx, tx, scanGiftSite, selectGiftSites, tenantID); err != nil {
			return err
		}
		if out.Team, err = rowsOf(ctx, tx, scanMember, selectWholeTeam, tenantID); err != nil {
			return err
		}
		out.CustomFields, err = rowsOf(ctx, tx, scanPlacedField, selectPlacedFields, tenantID)
		return err
	})
}

func scanPlacedField(row pgx.CollectableRow) (*tenantsv1.PlacedField, error) {
	f := &tenantsv1.CustomField{}
	p := &tenantsv1.PlacedField{Field: f}
	return p, row.Scan(&f.Id, &f.Label, postgres.ScanEnum(&f.Type), &f.Required, &f.Options, &p.Position)
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
func (s *Store) Keys(ctx context.Context, by By, whole caller.Permission, l KeyList) (keys []*tenantsv1.KeyRecord, err error) {
	err = s.read(ctx, l.TenantID, by, func(tx pgx.Tx) error {
		if err := requireTenant(ctx, tx, l.TenantID); err != nil {
			return err
		}
		team, err := by.team(ctx, tx, l.TenantID)
		if err != nil {
			return err
		}
		if keys, err = rowsOf(ctx, tx, scanKeyRecord, listKeys, l.TenantID, l.Revoked, l.After, l.Limit); err != nil {
			return err
		}
		if whole.Check(by.Actor, team) != nil {
			for _, k := range keys {
				k.Key.WebhookUrl = nil
			}
		}
		return nil
	})
	return keys, err
}

func scanKeyRecord(row pgx.CollectableRow) (*tenantsv1.KeyRecord, error) {
	r := &tenantsv1.KeyRecord{}
	var k Key
	var columns []string
	if err := row.Scan(&k.ID, &k.Name, &k.Prefix, &columns, &k.AllBrands, &k.BrandIDs, &k.WebhookURL,
		postgres.ScanTime(&r.CreatedAt), postgres.ScanTime(&r.RevokedAt)); err != nil {
		return nil, fmt.Errorf("scan key: %w", err)
	}
	k.Scopes = enumname.ParseAll[commonv1.Scope](columns)
	r.Key, r.WebhookHost = k.Proto(), webhookHost(k.WebhookURL)
	return r, nil
}

// webhookHost is all of a webhook URL that anyone may see: its path may be a secret.
func webhookHost(of *string) *string {
	if of == nil {
		return nil
	}
	parsed, err := url.Parse(*of)
	if err != nil {
		return nil
	}
	return &parsed.Host
}
