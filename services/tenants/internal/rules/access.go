package rules

import (
	"github.com/partnergifting/platform/pkg/caller"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	administrator = tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR
	coordinator   = tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR
)

// The permissions of the operations plane. A member of a team has them only in the own tenant, which the store checks.
var (
	// ofAccess is for changes of who may do what: the team, keys, approval and access to the API. A person answers for them, so the
	// platform itself may not make them.
	ofAccess = caller.Permission{Team: []tenantsv1.TeamRole{administrator}, Operator: true}
	// ofSettings is for changes of settings on which no permission depends.
	ofSettings = caller.Permission{Team: []tenantsv1.TeamRole{administrator, coordinator}, Operator: true, System: true}
	// ofReads is for reading the settings, which have no secret.
	ofReads = caller.Permission{Team: caller.EveryTeamRole(), Operator: true, System: true}
	// ofAudits is for reading what people did.
	ofAudits = caller.Permission{Team: []tenantsv1.TeamRole{administrator}, Operator: true, System: true}
	// ofPlatform is for those who run the platform.
	ofPlatform = caller.Permission{Operator: true, System: true}
)

// access has an entry for every call of the operations plane. Which programs may make the call, and for which kinds of actors, is
// in the table of callers of package rpc.
var access = map[string]caller.Permission{
	tenantsv1.TenantOperationsService_PutTenant_FullMethodName:           ofAccess,
	tenantsv1.TenantOperationsService_PutTeamMember_FullMethodName:       ofAccess,
	tenantsv1.TenantOperationsService_CreateKey_FullMethodName:           ofAccess,
	tenantsv1.TenantOperationsService_UpdateKey_FullMethodName:           ofAccess,
	tenantsv1.TenantOperationsService_RevokeKey_FullMethodName:           ofAccess,
	tenantsv1.TenantOperationsService_SetWebhookUrl_FullMethodName:       ofAccess,
	tenantsv1.TenantOperationsService_RotateWebhookSecret_FullMethodName: ofAccess,

	tenantsv1.TenantOperationsService_PutBrand_FullMethodName:       ofSettings,
	tenantsv1.TenantOperationsService_PutGiftSite_FullMethodName:    ofSettings,
	tenantsv1.TenantOperationsService_PutCustomField_FullMethodName: ofSettings,

	tenantsv1.TenantOperationsService_GetTenant_FullMethodName:       ofReads,
	tenantsv1.TenantOperationsService_ListKeys_FullMethodName:        ofReads,
	tenantsv1.TenantOperationsService_ListKeyAudit_FullMethodName:    ofAudits,
	tenantsv1.TenantOperationsService_ListTenantAudit_FullMethodName: ofAudits,
	tenantsv1.TenantOperationsService_ListTenants_FullMethodName:     ofPlatform,

	tenantsv1.OffboardingOperationsService_OffboardTenant_FullMethodName:    ofPlatform,
	tenantsv1.OffboardingOperationsService_CancelOffboarding_FullMethodName: ofPlatform,
	tenantsv1.OffboardingOperationsService_GetOffboarding_FullMethodName:    ofPlatform,
	tenantsv1.OffboardingOperationsService_ExportTenant_FullMethodName:      ofPlatform,

	tenantsv1.CellOperationsService_PutCell_FullMethodName:          ofPlatform,
	tenantsv1.CellOperationsService_DrainCell_FullMethodName:        ofPlatform,
	tenantsv1.CellOperationsService_ListCellRecords_FullMethodName:  ofPlatform,
	tenantsv1.CellOperationsService_MoveTenant_FullMethodName:       ofPlatform,
	tenantsv1.CellOperationsService_GetTenantMove_FullMethodName:    ofPlatform,
	tenantsv1.CellOperationsService_CancelTenantMove_FullMethodName: ofPlatform,

	tenantsv1.PrivacyOperationsService_ErasePerson_FullMethodName:  ofAccess,
	tenantsv1.PrivacyOperationsService_ExportPerson_FullMethodName: ofAccess,
}

// Access returns the permission of a call, by its full name. A call that is not in the table is forbidden for all actors.
func Access(method string) caller.Permission { return access[method] }

// WholeURLs is the permission to see webhook URLs with their paths, which may be secrets.
func WholeURLs() caller.Permission { return ofAccess }
