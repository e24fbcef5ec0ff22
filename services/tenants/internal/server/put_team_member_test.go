package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestPutTeamMember(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	put := func(tenantID string, m *tenantsv1.TeamMember) *tenantsv1.PutTeamMemberRequest {
		return &tenantsv1.PutTeamMemberRequest{TenantId: tenantID, Member: m}
	}
	ann := &tenantsv1.TeamMember{
		Id: newID(), Name: "Ann", Email: "Ann@Example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, Active: true,
	}
	call(t, f.ops.PutTeamMember, put(tenant, ann))
	t.Run("settings name active members, by lower-case address", func(t *testing.T) {
		team := f.settings(tenant).GetTeam()
		require.Len(t, team, 1)
		require.Equal(t, "ann@example.com", team[0].GetEmail())
		require.Equal(t, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, team[0].GetRole())

		gone := &tenantsv1.TeamMember{
			Id: newID(), Name: "Bo", Email: "bo@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}
		call(t, f.ops.PutTeamMember, put(tenant, gone))
		require.Len(t, f.settings(tenant).GetTeam(), 1)
		require.EqualValues(t, 3, f.settings(tenant).GetVersion())
	})
	t.Run("an address belongs to one member of a tenant, whatever its case", func(t *testing.T) {
		again := &tenantsv1.TeamMember{
			Id: newID(), Name: "Ann II", Email: "ANN@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}
		invalid(t, f.ops.PutTeamMember, put(tenant, again), "member.email duplicate")
		call(t, f.ops.PutTeamMember, put(other, again))
	})
	t.Run("lower case includes letters beyond ASCII", func(t *testing.T) {
		asa := &tenantsv1.TeamMember{
			Id: newID(), Name: "\u00c5sa", Email: "\u00c5SA.\u0130@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}
		call(t, f.ops.PutTeamMember, put(tenant, asa))
		asa.Id, asa.Email = newID(), "\u00e5sa.i@example.com"
		invalid(t, f.ops.PutTeamMember, put(tenant, asa), "member.email duplicate")
	})
	t.Run("an address that is too long is refused", func(t *testing.T) {
		invalid(t, f.ops.PutTeamMember, put(tenant, &tenantsv1.TeamMember{
			Id: newID(), Name: "n", Email: strings.Repeat("a", 244) + "@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}), "member.email too_long")
	})
	t.Run("another tenant's member is not found", func(t *testing.T) {
		refused(t, problem.NotFound, f.ops.PutTeamMember, put(other, ann))
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutTeamMember, put("x", &tenantsv1.TeamMember{Email: "ann", Role: 9}),
			"tenantId invalid", "member.id invalid", "member.name required", "member.email invalid", "member.role invalid")
		invalid(t, f.ops.PutTeamMember, put(tenant, &tenantsv1.TeamMember{Id: newID(), Name: "n"}),
			"member.email required", "member.role invalid")
		invalid(t, f.ops.PutTeamMember, put(tenant, nil), "member required")
	})
}
