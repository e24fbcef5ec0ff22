package caller_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	account = commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT
	system  = commonv1.ActorKind_ACTOR_KIND_SYSTEM
)

func TestEveryErrorOfAnActorIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		actor *commonv1.Actor
		want  []string
	}{
		"a person":           {&commonv1.Actor{Kind: account, Id: "staff-7", Name: "Ann"}, nil},
		"the platform":       {&commonv1.Actor{Kind: system}, nil},
		"nobody":             {nil, []string{"actor required"}},
		"of no kind":         {&commonv1.Actor{Id: "a"}, []string{"actor.kind required"}},
		"of an unknown kind": {&commonv1.Actor{Kind: 99, Id: "a"}, []string{"actor.kind invalid"}},
		"without an id":      {&commonv1.Actor{Kind: account}, []string{"actor.id required"}},
		"named by e-mail":    {&commonv1.Actor{Kind: account, Id: "ann@example.com"}, []string{"actor.id invalid"}},
		"a platform with id": {&commonv1.Actor{Kind: system, Id: "a"}, []string{"actor.id invalid"}},
		"named by a name":    {&commonv1.Actor{Kind: account, Id: "Bo Berg"}, []string{"actor.id invalid"}},
		"with NUL in a name": {&commonv1.Actor{Kind: account, Id: "a", Name: "\x00"}, []string{"actor.name invalid"}},
		"with a name and an id that are too long": {&commonv1.Actor{
			Kind: account, Id: strings.Repeat("a", 129), Name: strings.Repeat("n", 256),
		}, []string{"actor.name too_long", "actor.id too_long"}},
	} {
		t.Run(name, func(t *testing.T) {
			var errs fields.Errors
			caller.CheckActor(c.actor, &errs)
			var got []string
			for _, v := range errs.List() {
				got = append(got, v.Field+" "+v.Code)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestAMemberIsActiveAndHasTheRole(t *testing.T) {
	t.Parallel()
	const administrator, member = tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_MEMBER
	team := []*tenantsv1.TeamMember{
		{Id: "ann", Role: administrator, Active: true}, {Id: "bo", Role: member, Active: true}, {Id: "cy", Role: administrator},
	}
	require.True(t, caller.IsTeamMember(&commonv1.Actor{Kind: account, Id: "ann"}, team, administrator))
	require.False(t, caller.IsTeamMember(&commonv1.Actor{Kind: account, Id: "bo"}, team, administrator), "another role")
	require.True(t, caller.IsTeamMember(&commonv1.Actor{Kind: account, Id: "bo"}, team, administrator, member))
	require.False(t, caller.IsTeamMember(&commonv1.Actor{Kind: account, Id: "cy"}, team, administrator), "not active")
	require.False(t, caller.IsTeamMember(&commonv1.Actor{Kind: system, Id: "ann"}, team, administrator), "another kind")
}

func TestForAStrangerTheTenantDoesNotExist(t *testing.T) {
	t.Parallel()
	team := []*tenantsv1.TeamMember{
		{Id: "ann", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true},
		{Id: "bo", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true},
		{Id: "cy", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR},
	}
	administrators := caller.Permission{Team: []tenantsv1.TeamRole{tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR}}
	for id, want := range map[string]problem.Code{
		"ann": "", "bo": problem.InsufficientScope, "cy": problem.NotFound, "ANN": problem.NotFound, "made-up": problem.NotFound,
	} {
		err := administrators.Check(&commonv1.Actor{Kind: account, Id: id}, team)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.True(t, problem.Is(err, want), "%s: %v", id, err)
		}
	}
	err := caller.Permission{Operator: true}.Check(&commonv1.Actor{Kind: account, Id: "made-up"}, nil)
	require.True(t, problem.Is(err, problem.InsufficientScope), "no member may, so membership says nothing: %v", err)
}
