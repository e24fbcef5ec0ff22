package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// GetTenant returns a tenant with its brands, team and custom fields.
func (o *operations) GetTenant(ctx context.Context, req *tenantsv1.GetTenantRequest) (*tenantsv1.GetTenantResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_GetTenant_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := o.Store.Tenant(ctx, tenantID, by)
	if err != nil {
		return nil, refused(err)
	}
	return found, nil
}
