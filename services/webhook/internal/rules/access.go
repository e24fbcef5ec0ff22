package rules

import (
	"github.com/partnergifting/platform/pkg/caller"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

var (
	// logPermission is for calls that show that something was sent, but not what.
	logPermission = caller.Permission{Team: caller.EveryTeamRole(), Operator: true, System: true, Lists: true}
	// bodyPermission is for calls that show what was sent, which may be a link that can be claimed, or that send it again.
	bodyPermission = caller.Permission{
		Team:     []tenantsv1.TeamRole{tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR},
		Operator: true, System: true,
	}
)

// access has an entry for every call of the operations plane.
var access = map[string]caller.Permission{
	webhookv1.WebhookOperationsService_ListDeliveries_FullMethodName:   logPermission,
	webhookv1.WebhookOperationsService_GetBacklog_FullMethodName:       logPermission,
	webhookv1.WebhookOperationsService_GetDelivery_FullMethodName:      bodyPermission,
	webhookv1.WebhookOperationsService_ResendDelivery_FullMethodName:   bodyPermission,
	webhookv1.WebhookOperationsService_ResendDeliveries_FullMethodName: bodyPermission,
}

// Access returns the permission of a call, by its full name. A call that is not in the table is forbidden for all actors.
func Access(method string) caller.Permission { return access[method] }
