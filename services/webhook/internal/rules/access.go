package rules

import (
	"github.com/partnergifting/platform/pkg/caller"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

var (
	// ofLog shows that something was sent, but not what.
	ofLog = caller.Permission{Team: caller.EveryTeamRole(), Operator: true, System: true}
	// ofBodies shows what was sent, which may be a link that can be claimed, or sends it again.
	ofBodies = caller.Permission{
		Team:     []tenantsv1.TeamRole{tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR},
		Operator: true, System: true,
	}
)

// access has an entry for every call of the operations plane.
var access = map[string]caller.Permission{
	webhookv1.WebhookOperationsService_ListDeliveries_FullMethodName:   ofLog,
	webhookv1.WebhookOperationsService_GetBacklog_FullMethodName:       ofLog,
	webhookv1.WebhookOperationsService_GetDelivery_FullMethodName:      ofBodies,
	webhookv1.WebhookOperationsService_ResendDelivery_FullMethodName:   ofBodies,
	webhookv1.WebhookOperationsService_ResendDeliveries_FullMethodName: ofBodies,
}

// Access returns the permission of a call, by its full name. A call that is not in the table is forbidden for all actors.
func Access(method string) caller.Permission { return access[method] }
