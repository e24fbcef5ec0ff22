package server

import (
	"context"
	"strconv"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// GetCampaign returns a campaign of a brand that the key may see, with its offerings.
func (s *service) GetCampaign(
	ctx context.Context, req *catalogv1.GetCampaignRequest,
) (*catalogv1.GetCampaignResponse, error) {
	principal, tenant, err := s.keyAndTenant(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	locale := rules.ReadLocale(req.GetLocale(), tenant.GetLocales(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	campaign, found, err := s.Store.Campaign(ctx, principal.TenantID, idOrUnknown(req.GetCampaignId()), locale)
	if err != nil {
		return nil, err
	}
	if !found || !principal.Reaches(campaign.BrandID) {
		return nil, problem.RecordNotFound()
	}
	return &catalogv1.GetCampaignResponse{Campaign: s.present.campaign(campaign)}, nil
}

// ListCampaigns lists the campaigns of the brands that the key may see, newest first. A campaign that is made while pages are
// read comes before the first page.
func (s *service) ListCampaigns(
	ctx context.Context, req *catalogv1.ListCampaignsRequest,
) (*catalogv1.ListCampaignsResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	filter := store.CampaignFilter{
		TenantID: p.TenantID, AllBrands: p.AllBrands, BrandIDs: p.BrandIDs, BrandID: errs.OptionalUUID("brandId", req.BrandId),
	}
	if req.Status != nil {
		filter.Status = rules.ReadCampaignStatus(req.GetStatus(), errs)
	}
	bind := page.Bind("campaigns", p.TenantID, page.Part(filter.BrandID), strconv.Itoa(int(req.GetStatus())))
	filter.After = page.After(req.After, bind, errs)
	limit := page.Limit(req.Limit, errs) // The limit is not part of the cursor's binding.
	if err := errs.Err(); err != nil {
		return nil, err
	}
	filter.Limit = limit + 1
	found, err := s.Store.Campaigns(ctx, filter)
	if err != nil {
		return nil, err
	}
	found, next := page.Cut(found, limit, bind, store.CampaignHead.Position)
	resp := &catalogv1.ListCampaignsResponse{NextCursor: next}
	for _, c := range found {
		resp.Items = append(resp.Items, &catalogv1.CampaignSummary{
			Id: c.ID, BrandId: c.BrandID, Name: c.Name, Status: enum[catalogv1.CampaignStatus](c.Status), ExpiresAt: timestamp(c.ExpiresAt),
		})
	}
	return resp, nil
}
