package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// The rows of settings.
type (
	tenantRow struct {
		*tenantsv1.Tenant

		record  *tenantsv1.TenantRecord
		version int64
	}
	brandRow struct {
		*tenantsv1.Brand

		tenantID string
	}
	memberRow struct {
		*tenantsv1.TeamMember

		tenantID string
	}
	fieldRow struct {
		*tenantsv1.CustomField

		tenantID string
		position int32
	}
)

const (
	ofTenant  = "tenant_id = $1 AND id = $2"
	oneRecord = "tenant_id, id"
)

var tenantSettings = setting[tenantRow]{
	table: "tenants", conflict: "id", condition: "id = $1 AND $2 = ''", action: tenantsv1.TenantAction_TENANT_ACTION_PUT_TENANT,
	setClause: "SET version = stored.version + 1, ",
	columns: postgres.Columns[tenantRow]{
		postgres.Field("id", written|shown, func(r *tenantRow) *string { return &r.Id }),
		postgres.Field("name", setUp, func(r *tenantRow) *string { return &r.Name }),
		postgres.Field("locales", setUp, func(r *tenantRow) *[]string { return &r.Locales }),
		postgres.Field("currency", setUp, func(r *tenantRow) *string { return &r.Currency }),
		postgres.Field("approval_required", setUp, func(r *tenantRow) *bool { return &r.ApprovalRequired }),
		postgres.Field("api_access", setUp, func(r *tenantRow) *bool { return &r.record.ApiAccess }),
		postgres.Field("cell", written|shown, func(r *tenantRow) *string { return &r.record.Cell }),
		postgres.Field("version", shown, func(r *tenantRow) *int64 { return &r.version }),
		postgres.TimeField("created_at", inRecord, func(r *tenantRow) **timestamppb.Timestamp { return &r.record.CreatedAt }),
		postgres.EnumField("(SELECT o.state FROM offboardings o WHERE o.tenant_id = tenants.id)", inRecord,
			func(r *tenantRow) *tenantsv1.OffboardingState { return &r.record.Offboarding }),
	},
	blank: func() *tenantRow { return &tenantRow{Tenant: &tenantsv1.Tenant{}, record: &tenantsv1.TenantRecord{}} },
}.prepared()

var brands = setting[brandRow]{
	table: "brands", conflict: oneRecord, condition: ofTenant, action: tenantsv1.TenantAction_TENANT_ACTION_PUT_BRAND,
	columns: postgres.Columns[brandRow]{
		postgres.Field("tenant_id", written, func(r *brandRow) *string { return &r.tenantID }),
		postgres.Field("id", written|shown, func(r *brandRow) *string { return &r.Id }),
		postgres.Field("name", setUp, func(r *brandRow) *string { return &r.Name }),
		postgres.Field("slug", setUp, func(r *brandRow) *string { return &r.Slug }),
		postgres.Field("primary_colour", setUp, func(r *brandRow) **string { return &r.PrimaryColour }),
		postgres.Field("logo_url", setUp, func(r *brandRow) **string { return &r.LogoUrl }),
	},
	blank: func() *brandRow { return &brandRow{Brand: &tenantsv1.Brand{}} },
}.prepared()

var team = setting[memberRow]{
	table: "team_members", conflict: oneRecord, condition: ofTenant, action: tenantsv1.TenantAction_TENANT_ACTION_PUT_TEAM_MEMBER,
	columns: postgres.Columns[memberRow]{
		postgres.Field("tenant_id", written, func(r *memberRow) *string { return &r.tenantID }),
		postgres.Field("id", written|shown, func(r *memberRow) *string { return &r.Id }),
		postgres.Field("name", written|changed|shown, func(r *memberRow) *string { return &r.Name }),
		postgres.Field("email", written|changed|shown, func(r *memberRow) *string { return &r.Email }),
		postgres.EnumField("role", setUp, func(r *memberRow) *tenantsv1.TeamRole { return &r.Role }),
		postgres.Field("active", setUp, func(r *memberRow) *bool { return &r.Active }),
	},
	blank: func() *memberRow { return &memberRow{TeamMember: &tenantsv1.TeamMember{}} },
}.prepared()

var customFields = setting[fieldRow]{
	table: "custom_fields", conflict: oneRecord, condition: ofTenant, action: tenantsv1.TenantAction_TENANT_ACTION_PUT_CUSTOM_FIELD,
	columns: postgres.Columns[fieldRow]{
		postgres.Field("tenant_id", written, func(r *fieldRow) *string { return &r.tenantID }),
		postgres.Field("id", written|shown, func(r *fieldRow) *string { return &r.Id }),
		postgres.Field("label", setUp, func(r *fieldRow) *string { return &r.Label }),
		postgres.EnumField("type", written|shown|inAudit, func(r *fieldRow) *tenantsv1.CustomFieldType { return &r.Type }),
		postgres.Field("required", setUp, func(r *fieldRow) *bool { return &r.Required }),
		postgres.Field("options", setUp, func(r *fieldRow) *[]string { return &r.Options }),
		postgres.Field("position", setUp, func(r *fieldRow) *int32 { return &r.position }),
	},
	blank: func() *fieldRow { return &fieldRow{CustomField: &tenantsv1.CustomField{}} },
}.prepared()

// All statements of a read are of one snapshot, so that the settings match the version.
const oneSnapshot = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`

var (
	selectTenant     = tenantSettings.read + ` WHERE id = $1`
	selectFields     = customFields.read + ` WHERE tenant_id = $1 ORDER BY position, id`
	selectBrands     = brands.read + ` WHERE tenant_id = $1 AND ($2 OR id = ANY($3)) ORDER BY lower(name), name, id`
	selectTeam       = team.read + ` WHERE tenant_id = $1 AND active ORDER BY lower(name), id`
	selectOffboarded = `SELECT EXISTS (SELECT FROM offboardings WHERE tenant_id = $1)`
)

// Settings returns the settings of a tenant that other services need.
func (s *Store) Settings(ctx context.Context, tenantID string) (*tenantsv1.GetTenantSettingsResponse, error) {
	tenant, out := tenantSettings.blank(), &tenantsv1.GetTenantSettingsResponse{}
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(oneSnapshot)
		tenant.queue(b, tenantID)
		postgres.QueueSelect(b, &out.Brands, scanBrand, selectBrands, tenantID, true, []string{})
		postgres.QueueSelect(b, &out.GiftSites, scanGiftSite, selectGiftSites, tenantID)
		postgres.QueueSelect(b, &out.Team, scanMember, selectTeam, tenantID)
		b.Queue(selectOffboarded, tenantID).QueryRow(func(row pgx.Row) error { return row.Scan(&out.Offboarding) })
	})
	if err != nil {
		return nil, translate(fmt.Errorf("read settings: %w", err))
	}
	out.Tenant, out.Version, out.Cell = tenant.Tenant, tenant.version, tenant.record.GetCell()
	return out, nil
}

// queue reads the tenant with its custom fields.
func (r *tenantRow) queue(b *pgx.Batch, tenantID string) {
	b.Queue(selectTenant, tenantID).QueryRow(func(row pgx.Row) error { return row.Scan(tenantSettings.readColumns.Targets(r)...) })
	postgres.QueueSelect(b, &r.CustomFields, scanField, selectFields, tenantID)
}

// PutTenant creates or replaces a tenant and returns it with its custom fields. A new tenant has no team, so its members cannot
// create it. It fails with ErrOffboarded for one that is or was off-boarded, whose id is never used again. A new tenant begins in
// the wanted cell, or without one in that with the fewest tenants; PutTenant fails with ErrNoCell if it takes none.
func (s *Store) PutTenant(
	ctx context.Context, by Authorization, t *tenantsv1.Tenant, apiAccess bool, wantedCell string,
) (stored *tenantsv1.Tenant, version int64, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		state, err := stateOf(ctx, tx, t.GetId())
		if err != nil {
			return err
		}
		found := tx.QueryRow(ctx, lockTenant, t.GetId()).Scan(&version)
		if found != nil && !errors.Is(found, pgx.ErrNoRows) {
			return fmt.Errorf("lock tenant: %w", found)
		}
		if err := by.permit(ctx, tx, t.GetId()); err != nil {
			return err
		}
		if state != "" {
			return ErrOffboarded
		}
		after := &tenantRow{Tenant: t, record: &tenantsv1.TenantRecord{ApiAccess: apiAccess}}
		if found != nil {
			if after.record.Cell, err = cellWithRoom(ctx, tx, wantedCell); err != nil {
				return err
			}
		}
		if _, err = tenantSettings.put(ctx, tx, by, t.GetId(), "", after); err != nil {
			return err
		}
		read, b := tenantSettings.blank(), &pgx.Batch{}
		read.queue(b, t.GetId())
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("read tenant: %w", err)
		}
		stored, version = read.Tenant, read.version
		return nil
	})
	return stored, version, translate(err)
}

// PutBrand creates or replaces a brand of the tenant.
func (s *Store) PutBrand(ctx context.Context, tenantID string, by Authorization, b *tenantsv1.Brand) (version int64, err error) {
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		return brands.put(ctx, tx, by, tenantID, b.GetId(), &brandRow{b, tenantID})
	})
}

// Brands lists the tenant's brands by name: all, or those with one of the ids.
func (s *Store) Brands(ctx context.Context, tenantID string, all bool, ids []string) ([]*tenantsv1.Brand, error) {
	return postgres.Select(ctx, s.pool, "list brands", scanBrand, selectBrands, tenantID, all, ids)
}

func scanBrand(row pgx.CollectableRow) (*tenantsv1.Brand, error) {
	r, err := brands.scan(row)
	return r.Brand, err
}

// PutCustomField creates or replaces a field. It fails with ErrTypeFixed if the field has another type.
func (s *Store) PutCustomField(
	ctx context.Context, tenantID string, by Authorization, f *tenantsv1.CustomField, position int32,
) (version int64, err error) {
	f.Options = list(f.GetOptions())
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		before, err := customFields.stored(ctx, tx, tenantID, f.GetId())
		if err != nil {
			return false, err
		}
		if before != nil && before.GetType() != f.GetType() {
			return false, ErrTypeFixed
		}
		return customFields.replace(ctx, tx, by, tenantID, f.GetId(), before, &fieldRow{f, tenantID, position})
	})
}

func scanField(row pgx.CollectableRow) (*tenantsv1.CustomField, error) {
	r, err := customFields.scan(row)
	return r.CustomField, err
}

// list is never nil, which would become NULL.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// selectHasAdministrator reports whether the team has an Administrator who may act.
const selectHasAdministrator = `SELECT EXISTS (SELECT FROM team_members WHERE tenant_id = $1 AND role = 'ADMINISTRATOR' AND active)`

// PutTeamMember creates or replaces a member of the tenant's team. It fails with ErrLastAdministrator if a member would leave the
// team without an Administrator, after which only the service operator could change anything. The operator may.
func (s *Store) PutTeamMember(
	ctx context.Context, tenantID string, by Authorization, m *tenantsv1.TeamMember,
) (version int64, err error) {
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		changed, err := team.put(ctx, tx, by, tenantID, m.GetId(), &memberRow{m, tenantID})
		if err != nil || !by.Needs.NeedsTeam(by.Actor) {
			return changed, err
		}
		var found bool
		if err := tx.QueryRow(ctx, selectHasAdministrator, tenantID).Scan(&found); err != nil {
			return false, fmt.Errorf("find Administrator: %w", err)
		}
		if !found {
			return false, ErrLastAdministrator
		}
		return changed, nil
	})
}

func scanMember(row pgx.CollectableRow) (*tenantsv1.TeamMember, error) {
	r, err := team.scan(row)
	return r.TeamMember, err
}
