package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// PutTenant creates or replaces a tenant.
func (o *operations) PutTenant(ctx context.Context, req *tenantsv1.PutTenantRequest) (*tenantsv1.PutTenantResponse, error) {
	var errs fields.Errors
	tenant := rules.Tenant(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	stored, version, err := o.Store.PutTenant(ctx, tenant, req.GetApiAccess())
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, tenant.GetId(), version)
	return &tenantsv1.PutTenantResponse{Tenant: stored}, nil
}
