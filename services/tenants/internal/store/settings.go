package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// One snapshot for all statements, so that everything belongs to the version.
	oneSnapshot = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`

	selectTeam = `SELECT id, name, email, role, active FROM team_members
WHERE tenant_id = $1 AND active ORDER BY lower(name), id`
)

// Settings returns what the rules of other services need of a tenant.
func (s *Store) Settings(ctx context.Context, tenantID string) (*tenantsv1.GetTenantSettingsResponse, error) {
	tenant := &tenantsv1.Tenant{}
	out := &tenantsv1.GetTenantSettingsResponse{Tenant: tenant}
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(oneSnapshot)
		b.Queue(selectTenant, tenantID).QueryRow(scanTenant(tenant, &out.Version))
		b.Queue(selectFields, tenantID).Query(collect(&tenant.CustomFields, scanField))
		b.Queue(selectBrands, tenantID, true, []string{}).Query(collect(&out.Brands, scanBrand))
		b.Queue(selectTeam, tenantID).Query(collect(&out.Team, scanMember))
	})
	if err != nil {
		return nil, translate(fmt.Errorf("read settings: %w", err))
	}
	return out, nil
}
