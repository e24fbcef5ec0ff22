package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// PutCampaign creates a campaign of a tenant's brand or replaces it whole, except for the stock of SKUs
// that exist.
func (o *operations) PutCampaign(
	ctx context.Context, req *catalogv1.PutCampaignRequest,
) (*catalogv1.PutCampaignResponse, error) {
	errs := fields.FromContext(ctx)
	campaign := rules.ReadCampaign(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := o.checkBrand(ctx, campaign.TenantID, campaign.BrandID); err != nil {
		return nil, err
	}
	return &catalogv1.PutCampaignResponse{}, o.Store.PutCampaign(ctx, campaign)
}
