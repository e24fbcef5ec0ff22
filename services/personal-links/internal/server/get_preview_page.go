package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// GetPreviewPage returns the page of a link that does not exist.
func (s *Server) GetPreviewPage(ctx context.Context, req *linksv1.GetPreviewPageRequest) (*linksv1.GetPreviewPageResponse, error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.RequiredUUID("tenantId", req.GetTenantId())
	brandID := errs.RequiredUUID("brandId", req.GetBrandId())
	campaignID := errs.OptionalUUID("campaignId", req.CampaignId)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	settings, err := s.Tenants.Fresh(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	if !rules.HasBrand(settings.GetBrands(), brandID) {
		return nil, problem.New(problem.NotFound, "The tenant has no such brand.")
	}
	locale := rules.Locale(req.GetLocale(), settings.GetTenant(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	site := req.GetSite()
	if site == nil {
		site = rules.GiftSite(settings.GetGiftSites(), brandID)
	}
	selection, err := s.Catalog.ListSelectionGifts(ctx, &catalogv1.ListSelectionGiftsRequest{
		TenantId: tenantID, Selection: &catalogv1.Selection{CampaignId: campaignID}, Locale: locale, BrandId: &brandID,
		HeroImageId: fields.Optional(new(site.GetTheme().GetHeroImageId())), PictureIds: rules.PictureIDs(site), Preview: true,
	})
	if err != nil {
		return nil, err
	}
	if !selection.GetOpen() {
		return nil, problem.New(problem.CampaignNotFound, "The brand has no such campaign.")
	}
	if req.GetSite() != nil {
		rules.CheckPictures(site, selection, errs)
		if err := errs.Err(); err != nil {
			return nil, err
		}
	}
	page := rules.PreviewPage(settings, brandID, locale, site, selection)
	if req.Greeting != nil {
		page.Greeting = req.Greeting
	}
	return &linksv1.GetPreviewPageResponse{Page: page}, nil
}
