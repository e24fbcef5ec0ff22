package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// All statements read one snapshot, so that the settings match the version.
	oneSnapshot = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`

	selectTeam = `SELECT id, name, email, role, active FROM team_members
WHERE tenant_id = $1 AND active ORDER BY lower(name), id`

	selectOffboarded = `SELECT EXISTS (SELECT FROM offboardings WHERE tenant_id = $1)`
)

// Settings returns the settings of a tenant that other services need.
func (s *Store) Settings(ctx context.Context, tenantID string) (*tenantsv1.GetTenantSettingsResponse, error) {
	tenant := &tenantsv1.Tenant{}
	out := &tenantsv1.GetTenantSettingsResponse{Tenant: tenant}
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(oneSnapshot)
		b.Queue(selectTenant, tenantID).QueryRow(scanTenant(tenant, &out.Version))
		b.Queue(selectFields, tenantID).Query(collect(&tenant.CustomFields, scanField))
		b.Queue(selectBrands, tenantID, true, []string{}).Query(collect(&out.Brands, scanBrand))
		b.Queue(selectGiftSites, tenantID).Query(collect(&out.GiftSites, scanGiftSite))
		b.Queue(selectTeam, tenantID).Query(collect(&out.Team, scanMember))
		b.Queue(selectOffboarded, tenantID).QueryRow(func(row pgx.Row) error { return row.Scan(&out.Offboarding) })
	})
	if err != nil {
		return nil, translate(fmt.Errorf("read settings: %w", err))
	}
	return out, nil
}

const upsertTenant = `INSERT INTO tenants AS t (id, name, locales, currency, approval_required, api_access)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, locales = excluded.locales, currency = excluded.currency,
  approval_required = excluded.approval_required, api_access = excluded.api_access, version = t.version + 1
WHERE (t.name, t.locales, t.currency, t.approval_required, t.api_access)
  IS DISTINCT FROM
  (excluded.name, excluded.locales, excluded.currency, excluded.approval_required, excluded.api_access)`

// PutTenant creates or replaces a tenant and returns it with its custom fields. A new tenant has no team, so its members cannot
// create it. It fails with ErrOffboarded for one that is or was off-boarded, whose id is never used again.
func (s *Store) PutTenant(
	ctx context.Context, by By, t *tenantsv1.Tenant, apiAccess bool,
) (stored *tenantsv1.Tenant, version int64, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		state, err := stateOf(ctx, tx, t.GetId())
		if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, lockTenant, t.GetId()).Scan(&version); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("lock tenant: %w", err)
		}
		if err := by.permit(ctx, tx, t.GetId()); err != nil {
			return err
		}
		if state != "" {
			return ErrOffboarded
		}
		_, err = edit[tenantState]{
			by: by, action: tenantsv1.TenantAction_TENANT_ACTION_PUT_TENANT, read: selectTenantState,
			after: tenantState{t.GetName(), t.GetLocales(), t.GetCurrency(), t.GetApprovalRequired(), apiAccess},
		}.put(ctx, tx, t.GetId(), upsertTenant, t.GetId(), t.GetName(), t.GetLocales(), t.GetCurrency(), t.GetApprovalRequired(), apiAccess)
		if err != nil {
			return fmt.Errorf("put tenant: %w", err)
		}
		stored = &tenantsv1.Tenant{}
		b := &pgx.Batch{}
		b.Queue(selectTenant, t.GetId()).QueryRow(scanTenant(stored, &version))
		b.Queue(selectFields, t.GetId()).Query(collect(&stored.CustomFields, scanField))
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("read tenant: %w", err)
		}
		return nil
	})
	return stored, version, translate(err)
}

const (
	selectTenant = `SELECT id, name, locales, currency, approval_required, version FROM tenants WHERE id = $1`

	selectFields = `SELECT id, label, type, required, options FROM custom_fields
WHERE tenant_id = $1 ORDER BY position, id`
)

func scanTenant(t *tenantsv1.Tenant, version *int64) func(row pgx.Row) error {
	return func(row pgx.Row) error {
		return row.Scan(&t.Id, &t.Name, &t.Locales, &t.Currency, &t.ApprovalRequired, version)
	}
}

// collect reads the rows of a batched query into *into.
func collect[T any](into *[]T, scan pgx.RowToFunc[T]) func(rows pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scan)
		return err
	}
}

// list is never nil, which would become NULL.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

const (
	upsertBrand = `INSERT INTO brands AS b (tenant_id, id, name, slug, primary_colour, logo_url)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, slug = excluded.slug,
  primary_colour = excluded.primary_colour, logo_url = excluded.logo_url
WHERE (b.name, b.slug, b.primary_colour, b.logo_url)
  IS DISTINCT FROM (excluded.name, excluded.slug, excluded.primary_colour, excluded.logo_url)`

	selectBrands = `SELECT id, name, slug, primary_colour, logo_url FROM brands
WHERE tenant_id = $1 AND ($2 OR id = ANY($3)) ORDER BY lower(name), name, id`
)

// PutBrand creates or replaces a brand of the tenant.
func (s *Store) PutBrand(ctx context.Context, tenantID string, by By, b *tenantsv1.Brand) (version int64, err error) {
	e := edit[brandState]{
		by: by, action: tenantsv1.TenantAction_TENANT_ACTION_PUT_BRAND, subject: b.GetId(), read: selectBrandState,
		after: brandState{b.GetName(), b.GetSlug(), b.PrimaryColour, b.LogoUrl}, //nolint:protogetter // Absent differs from empty.
	}
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		return e.put(ctx, tx, tenantID, upsertBrand, tenantID, b.GetId(), b.GetName(), b.GetSlug(), b.PrimaryColour, b.LogoUrl)
	})
}

// Brands lists the tenant's brands by name: all, or those with one of the ids.
func (s *Store) Brands(ctx context.Context, tenantID string, all bool, ids []string) ([]*tenantsv1.Brand, error) {
	rows, err := s.pool.Query(ctx, selectBrands, tenantID, all, ids)
	if err != nil {
		return nil, fmt.Errorf("list brands: %w", err)
	}
	brands, err := pgx.CollectRows(rows, scanBrand)
	if err != nil {
		return nil, fmt.Errorf("list brands: %w", err)
	}
	return brands, nil
}

func scanBrand(row pgx.CollectableRow) (*tenantsv1.Brand, error) {
	b := &tenantsv1.Brand{}
	return b, row.Scan(&b.Id, &b.Name, &b.Slug, &b.PrimaryColour, &b.LogoUrl)
}

const upsertField = `INSERT INTO custom_fields AS f (tenant_id, id, label, type, required, options, position)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tenant_id, id) DO UPDATE SET label = excluded.label, required = excluded.required,
  options = excluded.options, position = excluded.position
WHERE (f.label, f.required, f.options, f.position)
  IS DISTINCT FROM (excluded.label, excluded.required, excluded.options, excluded.position)`

// PutCustomField creates or replaces a field. It fails with ErrTypeFixed if the field has another type.
func (s *Store) PutCustomField(
	ctx context.Context, tenantID string, by By, f *tenantsv1.CustomField, position int32,
) (version int64, err error) {
	kind := enumname.String(f.GetType())
	e := edit[fieldState]{
		by: by, action: tenantsv1.TenantAction_TENANT_ACTION_PUT_CUSTOM_FIELD, subject: f.GetId(), read: selectFieldState,
		after: fieldState{f.GetLabel(), kind, f.GetRequired(), list(f.GetOptions()), position},
	}
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		stored, err := readState[fieldState](ctx, tx, e.read, tenantID, e.subject)
		if err != nil {
			return false, err
		}
		if stored != nil && stored.Type != kind {
			return false, ErrTypeFixed
		}
		return e.put(ctx, tx, tenantID, upsertField, tenantID, f.GetId(), f.GetLabel(), kind, f.GetRequired(), list(f.GetOptions()), position)
	})
}

func scanField(row pgx.CollectableRow) (*tenantsv1.CustomField, error) {
	f := &tenantsv1.CustomField{}
	return f, row.Scan(&f.Id, &f.Label, postgres.ScanEnum(&f.Type), &f.Required, &f.Options)
}

const upsertMember = `INSERT INTO team_members AS m (tenant_id, id, name, email, role, active)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, email = excluded.email,
  role = excluded.role, active = excluded.active
WHERE (m.name, m.email, m.role, m.active)
  IS DISTINCT FROM (excluded.name, excluded.email, excluded.role, excluded.active)`

// selectLed reports whether the team has an Administrator who may act.
const selectLed = `SELECT EXISTS (SELECT FROM team_members WHERE tenant_id = $1 AND role = 'ADMINISTRATOR' AND active)`

// PutTeamMember creates or replaces a member of the tenant's team. It fails with ErrLastAdministrator if a member would leave the team
// without an Administrator, after which only the service operator could change anything. The operator may.
func (s *Store) PutTeamMember(ctx context.Context, tenantID string, by By, m *tenantsv1.TeamMember) (version int64, err error) {
	role := enumname.String(m.GetRole())
	e := edit[memberState]{
		by: by, action: tenantsv1.TenantAction_TENANT_ACTION_PUT_TEAM_MEMBER, subject: m.GetId(), read: selectMemberState,
		after: memberState{role, m.GetActive()},
	}
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		changed, err := e.put(ctx, tx, tenantID, upsertMember, tenantID, m.GetId(), m.GetName(), m.GetEmail(), role, m.GetActive())
		if err != nil || !by.Needs.NeedsTeam(by.Actor) {
			return changed, err
		}
		var led bool
		if err := tx.QueryRow(ctx, selectLed, tenantID).Scan(&led); err != nil {
			return false, fmt.Errorf("find Administrator: %w", err)
		}
		if !led {
			return false, ErrLastAdministrator
		}
		return changed, nil
	})
}

func scanMember(row pgx.CollectableRow) (*tenantsv1.TeamMember, error) {
	m := &tenantsv1.TeamMember{}
	return m, row.Scan(&m.Id, &m.Name, &m.Email, postgres.ScanEnum(&m.Role), &m.Active)
}
