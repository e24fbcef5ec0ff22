package rules

import (
	"github.com/partnergifting/platform/pkg/caller"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

var (
	ofApproval = caller.Permission{
		Team: []tenantsv1.TeamRole{tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR},
	}
	ofTeam = caller.Permission{Team: caller.EveryTeamRole(), Operator: true}
)

// access has an entry for every call of the operations plane.
var access = map[string]caller.Permission{
	linksv1.PersonalLinkOperationsService_ApprovePersonalLink_FullMethodName:      ofApproval,
	linksv1.PersonalLinkOperationsService_ApprovePersonalLinkBatch_FullMethodName: ofApproval,
	linksv1.PersonalLinkOperationsService_CancelPersonalLinkAs_FullMethodName:     ofTeam,
	linksv1.PersonalLinkOperationsService_ReadPersonalLink_FullMethodName:         ofTeam,
	linksv1.PersonalLinkOperationsService_ListPersonalLinkBatch_FullMethodName:    ofTeam,
}

// Access returns the permission of a call, by its full name. A call that is not in the table is forbidden for all actors.
func Access(method string) caller.Permission { return access[method] }
