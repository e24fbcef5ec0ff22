package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// PutBrand creates or replaces a brand of a tenant.
func (o *operations) PutBrand(
	ctx context.Context, req *tenantsv1.PutBrandRequest,
) (*tenantsv1.PutBrandResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	brand := rules.Brand(req.GetBrand(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutBrand(ctx, tenantID, brand)
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, tenantID, version)
	return &tenantsv1.PutBrandResponse{Brand: brand}, nil
}
