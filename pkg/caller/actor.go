package caller

import (
	"regexp"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	maxID   = 128
	maxName = 255
)

// idForm lets no e-mail address and no name pass as an id, because audits hold no personal data.
var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/|-]*$`)

// CheckActor collects the violations in the member `actor` of a request of the operations plane. The calling system has
// authenticated the person; only the form is checked here.
func CheckActor(a *commonv1.Actor, errs *fields.Errors) {
	const at = "actor"
	if a == nil {
		errs.Add(at, problem.FieldRequired, "is required")
		return
	}
	errs.Line(at+".name", a.GetName(), maxName)
	switch a.GetKind() {
	case commonv1.ActorKind_ACTOR_KIND_SYSTEM:
		if a.GetId() != "" {
			errs.Add(at+".id", problem.FieldInvalid, "must be empty for SYSTEM")
		}
	case commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT,
		commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT:
		errs.Required(at+".id", a.GetId(), maxID)
		if !idForm.MatchString(a.GetId()) {
			errs.Add(at+".id", problem.FieldInvalid, "must be an id of letters, digits and . _ : / | -")
		}
	case commonv1.ActorKind_ACTOR_KIND_UNSPECIFIED:
		errs.Add(at+".kind", problem.FieldRequired, "is required")
	default:
		errs.Add(at+".kind", problem.FieldInvalid, "is not a known kind")
	}
}

// IsTeamMember reports whether the actor is an active member of the team in one of the roles.
func IsTeamMember(a *commonv1.Actor, team []*tenantsv1.TeamMember, roles ...tenantsv1.TeamRole) bool {
	matches := func(m *tenantsv1.TeamMember) bool {
		return m.GetId() == a.GetId() && m.GetActive() && slices.Contains(roles, m.GetRole())
	}
	return a.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT && slices.ContainsFunc(team, matches)
}

// Permission says who may make a call. The zero value permits no call.
type Permission struct {
	// Team lists the roles in the tenant's team whose active members may make it.
	Team []tenantsv1.TeamRole
	// Client is a client of the tenant, Operator the service operator's team, System the platform, APIKey the calling API key.
	Client, Operator, System, APIKey bool
	// Lists means that the call only lists what there is of a tenant. Then the tenant need not exist or have its records in this cell.
	Lists bool
}

// EveryTeamRole lists the roles that a member of a tenant's team can have.
func EveryTeamRole() []tenantsv1.TeamRole {
	return []tenantsv1.TeamRole{
		tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
	}
}

// NeedsTeam reports whether Check needs the tenant's team to decide about the actor.
func (p Permission) NeedsTeam(a *commonv1.Actor) bool {
	return a.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT && len(p.Team) > 0
}

// Check refuses an actor who may not make the call. team is the tenant's current team; only a TENANT_ACCOUNT must be in it. One who
// is not gets not_found, as for a record that they may not see.
func (p Permission) Check(a *commonv1.Actor, team []*tenantsv1.TeamMember) error {
	allowed := false
	switch a.GetKind() {
	case commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT:
		if p.NeedsTeam(a) && !IsTeamMember(a, team, EveryTeamRole()...) {
			return problem.New(problem.NotFound, "The tenant has no such record.")
		}
		allowed = IsTeamMember(a, team, p.Team...)
	case commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT:
		allowed = p.Client
	case commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT:
		allowed = p.Operator
	case commonv1.ActorKind_ACTOR_KIND_SYSTEM:
		allowed = p.System
	case commonv1.ActorKind_ACTOR_KIND_API_KEY:
		allowed = p.APIKey
	default:
	}
	if !allowed {
		return problem.New(problem.InsufficientScope, "The acting person may not do this.")
	}
	return nil
}
