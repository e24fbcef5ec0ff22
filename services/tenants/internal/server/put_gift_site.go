package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/giftsite"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// PutGiftSite creates or replaces the links, the theme and the delivery times of a brand's gift site.
func (o *operations) PutGiftSite(
	ctx context.Context, req *tenantsv1.PutGiftSiteRequest,
) (*tenantsv1.PutGiftSiteResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_PutGiftSite_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	brandID := errs.RequiredUUID("brandId", req.GetBrandId())
	site := giftsite.Check(req.GetSite(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutGiftSite(ctx, tenantID, by, brandID, site)
	if err != nil {
		return nil, refused(err)
	}
	return &tenantsv1.PutGiftSiteResponse{Site: site}, o.Versions.Publish(ctx, tenantID, version)
}
