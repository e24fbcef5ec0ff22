package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestPutTeamMember(t *testing.T) {
	b := setup(t)
	tenant, other := b.tenant(), b.tenant()
	put := func(tenantID string, m *tenantsv1.TeamMember) error {
		_, err := b.ops.PutTeamMember(t.Context(), &tenantsv1.PutTeamMemberRequest{TenantId: tenantID, Member: m})
		return err
	}
	ann := &tenantsv1.TeamMember{
		Id: newID(), Name: "Ann", Email: "Ann@Example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, Active: true,
	}
	require.NoError(t, put(tenant, ann))

	t.Run("settings name active members, by lower-case address", func(t *testing.T) {
		team := b.settings(tenant).GetTeam()
		require.Len(t, team, 1)
		require.Equal(t, "ann@example.com", team[0].GetEmail())
		require.Equal(t, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, team[0].GetRole())

		gone := &tenantsv1.TeamMember{
			Id: newID(), Name: "Bo", Email: "bo@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}
		require.NoError(t, put(tenant, gone))
		require.Len(t, b.settings(tenant).GetTeam(), 1)
		require.EqualValues(t, 3, b.settings(tenant).GetVersion())
	})

	t.Run("an address belongs to one member of a tenant, whatever its case", func(t *testing.T) {
		again := &tenantsv1.TeamMember{
			Id: newID(), Name: "Ann II", Email: "ANN@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}
		requireFaults(t, put(tenant, again), "member.email duplicate")
		require.NoError(t, put(other, again))
	})

	t.Run("lower case is not for ASCII letters only", func(t *testing.T) {
		asa := &tenantsv1.TeamMember{
			Id: newID(), Name: "\u00c5sa", Email: "\u00c5SA.\u0130@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}
		require.NoError(t, put(tenant, asa))
		asa.Id, asa.Email = newID(), "\u00e5sa.i@example.com"
		requireFaults(t, put(tenant, asa), "member.email duplicate")
	})

	t.Run("an address that is too long is refused", func(t *testing.T) {
		requireFaults(t, put(tenant, &tenantsv1.TeamMember{
			Id: newID(), Name: "n", Email: strings.Repeat("a", 244) + "@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}), "member.email too_long")
	})

	t.Run("another tenant's member is not found", func(t *testing.T) {
		requireProblem(t, put(other, ann), problem.NotFound)
	})

	t.Run("every fault is listed", func(t *testing.T) {
		requireFaults(t, put("x", &tenantsv1.TeamMember{Email: "ann", Role: 9}),
			"tenantId invalid", "member.id invalid", "member.name required", "member.email invalid", "member.role invalid")
		requireFaults(t, put(tenant, &tenantsv1.TeamMember{Id: newID(), Name: "n"}),
			"member.email required", "member.role invalid")
		requireFaults(t, put(tenant, nil), "member required")
	})
}
