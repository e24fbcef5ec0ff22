package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// GetCampaign returns a campaign of a brand that the key reaches, with its offerings.
func (c *publicCatalog) GetCampaign(ctx context.Context, req *catalogv1.GetCampaignRequest) (*catalogv1.GetCampaignResponse, error) {
	principal, tenant, err := c.settings(ctx)
	if err != nil {
		return nil, err
	}
	errs := fields.FromContext(ctx)
	locale := rules.ReadLocale(req.GetLocale(), tenant.GetLocales(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	campaign, found, err := c.store.Campaign(ctx, principal.TenantID, idOrUnknown(req.GetCampaignId()), locale)
	if err != nil {
		return nil, err
	}
	if !found || !principal.Reaches(campaign.BrandID) {
		return nil, problem.RecordNotFound()
	}
	return &catalogv1.GetCampaignResponse{Campaign: c.present.campaign(campaign)}, nil
}
