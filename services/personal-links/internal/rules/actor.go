package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	maxActorID   = 128
	maxActorName = 255
)

// actorID keeps e-mail addresses and names out of the audit, which holds no personal data.
var actorID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/|-]*$`)

// CheckActor finds every fault in the acting person of an operation.
func CheckActor(a *commonv1.Actor, errs *fields.Errors) {
	const at = "actor"
	if a == nil {
		errs.Add(at, problem.FieldRequired, "is required")
		return
	}
	errs.MaxLen(at+".name", a.GetName(), maxActorName)
	switch a.GetKind() {
	case commonv1.ActorKind_ACTOR_KIND_SYSTEM:
		if a.GetId() != "" {
			errs.Add(at+".id", problem.FieldInvalid, "must be empty for SYSTEM")
		}
	case commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT,
		commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT:
		errs.Required(at+".id", a.GetId(), maxActorID)
		if !actorID.MatchString(a.GetId()) {
			errs.Add(at+".id", problem.FieldInvalid, "must be an id of letters, digits and . _ : / | -")
		}
	default:
		errs.Add(at+".kind", problem.FieldRequired, "is required")
	}
}

// ActorKind is the kind of an actor as the audit spells it.
func ActorKind(a *commonv1.Actor) string {
	return strings.TrimPrefix(a.GetKind().String(), "ACTOR_KIND_")
}

// PermitApproval refuses everybody but an Administrator or a Coordinator of the team.
func PermitApproval(a *commonv1.Actor, team []*tenantsv1.TeamMember) error {
	if !isMember(a, team, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR) {
		return notPermitted()
	}
	return nil
}

// PermitTeam refuses everybody but the team and the operator.
func PermitTeam(a *commonv1.Actor, team []*tenantsv1.TeamMember) error {
	if a.GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT || isMember(a, team,
		tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, tenantsv1.TeamRole_TEAM_ROLE_MEMBER) {
		return nil
	}
	return notPermitted()
}

func isMember(a *commonv1.Actor, team []*tenantsv1.TeamMember, roles ...tenantsv1.TeamRole) bool {
	return a.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT && slices.ContainsFunc(team, func(m *tenantsv1.TeamMember) bool {
		return m.GetId() == a.GetId() && m.GetActive() && slices.Contains(roles, m.GetRole())
	})
}

func notPermitted() error {
	return problem.New(problem.InsufficientScope, "The acting person may not do this.")
}
