package rules

import (
	"github.com/partnergifting/platform/pkg/actor"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// PermitApproval permits only an Administrator or a Coordinator of the team.
func PermitApproval(a *commonv1.Actor, team []*tenantsv1.TeamMember) error {
	if !actor.IsMember(a, team, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR) {
		return actor.NotPermitted()
	}
	return nil
}

// PermitTeam permits only the team and the operator.
func PermitTeam(a *commonv1.Actor, team []*tenantsv1.TeamMember) error {
	if a.GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT || actor.IsMember(a, team,
		tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, tenantsv1.TeamRole_TEAM_ROLE_MEMBER) {
		return nil
	}
	return actor.NotPermitted()
}
