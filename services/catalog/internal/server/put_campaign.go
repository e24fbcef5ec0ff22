package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// PutCampaign creates a campaign of a tenant's brand or replaces it whole, but for the stock of SKUs
// that exist.
func (o *Operations) PutCampaign(
	ctx context.Context, req *catalogv1.PutCampaignRequest,
) (*catalogv1.PutCampaignResponse, error) {
	errs := fields.FromContext(ctx)
	campaign := rules.ReadCampaign(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := o.checkBrand(ctx, campaign); err != nil {
		return nil, err
	}
	return &catalogv1.PutCampaignResponse{}, o.store.PutCampaign(ctx, campaign, func(gifts map[string]rules.Product) error {
		unfit := &fields.Errors{}
		campaign.CheckGifts(gifts, unfit)
		return unfit.Err()
	})
}

// checkBrand asks the tenants service itself: a brand made a moment ago counts.
func (o *Operations) checkBrand(ctx context.Context, c rules.Campaign) error {
	settings, err := o.directory.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: c.TenantID})
	errs := &fields.Errors{}
	switch {
	case problem.Is(err, problem.NotFound):
		errs.Add("tenantId", problem.FieldInvalid, "names no tenant")
	case err != nil:
		return err
	default:
		c.CheckBrand(settings, errs)
	}
	return errs.Err()
}
