package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const upsertMember = `INSERT INTO team_members AS m (tenant_id, id, name, email, role, active)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, email = excluded.email,
  role = excluded.role, active = excluded.active
WHERE (m.name, m.email, m.role, m.active)
  IS DISTINCT FROM (excluded.name, excluded.email, excluded.role, excluded.active)`

// PutTeamMember creates or replaces a member of the tenant's team.
func (s *Store) PutTeamMember(ctx context.Context, tenantID string, m *tenantsv1.TeamMember) (version int64, err error) {
	return s.put(ctx, tenantID, upsertMember,
		tenantID, m.GetId(), m.GetName(), m.GetEmail(), enumname.String(m.GetRole()), m.GetActive())
}

func scanMember(row pgx.CollectableRow) (*tenantsv1.TeamMember, error) {
	m := &tenantsv1.TeamMember{}
	return m, row.Scan(&m.Id, &m.Name, &m.Email, postgres.ScanEnum(&m.Role), &m.Active)
}
