package server

import (
	"context"
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// CheckSelection checks whether links can offer a selection now.
func (s *service) CheckSelection(
	ctx context.Context, req *catalogv1.CheckSelectionRequest,
) (*catalogv1.CheckSelectionResponse, error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	rules.ReadSelection(req.GetSelection(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if req.GetSelection().CampaignId == nil {
		return &catalogv1.CheckSelectionResponse{}, s.checkGifts(ctx, tenantID, req.GetSelection().GetProductIds())
	}
	campaign, _, err := s.Store.CampaignHead(ctx, tenantID, idOrUnknown(req.GetSelection().GetCampaignId()))
	if err != nil {
		return nil, err
	}
	principal := caller.Principal{AllBrands: req.GetAllBrands(), BrandIDs: req.GetBrandIds()}
	if err := rules.CheckSelectedCampaign(campaign.BrandID, campaign.Status, principal.Reaches); err != nil {
		return nil, err
	}
	return &catalogv1.CheckSelectionResponse{CampaignBrandId: campaign.BrandID}, nil
}

func (s *service) checkGifts(ctx context.Context, tenantID string, productIDs []string) error {
	ids := idsOrUnknown(productIDs)
	known, err := s.Store.States(ctx, tenantID, ids)
	if err != nil {
		return err
	}
	return rules.CheckSelectedGifts(ids, known)
}

func idsOrUnknown(values []string) []string {
	ids := make([]string, len(values))
	for i, value := range values {
		ids[i] = idOrUnknown(value)
	}
	return ids
}

// ListSelectionGifts returns the gifts that a player may choose now, and what else their page shows. A text that is missing in the
// locale is returned in the closest one. The locale was checked when the link was made.
func (s *service) ListSelectionGifts(
	ctx context.Context, req *catalogv1.ListSelectionGiftsRequest,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	selection := req.GetSelection()
	// A preview may have a selection without a campaign and without gifts.
	noGifts := selection != nil && selection.CampaignId == nil && len(selection.GetProductIds()) == 0
	if !req.GetPreview() || !noGifts {
		rules.ReadSelection(selection, errs)
	}
	errs.Line("locale", req.GetLocale(), rules.MaxLocale)
	brandID := errs.OptionalUUID("brandId", req.BrandId)
	if req.HeroImageId != nil {
		errs.Line("heroImageId", req.GetHeroImageId(), rules.FileIDLen)
	}
	rules.CheckPictureIDs(req.GetPictureIds(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	locales := fields.LocaleFallbacks(req.GetLocale())
	listGifts := s.catalogGifts
	if selection.CampaignId != nil {
		listGifts = s.campaignGifts
	}
	resp, err := listGifts(ctx, tenantID, req, locales)
	if err != nil || !resp.GetOpen() {
		return resp, err
	}
	page, err := s.Store.SitePage(ctx, store.SitePageQuery{
		TenantID: tenantID, CampaignID: optionalIDOrUnknown(selection.CampaignId), BrandID: brandID, HeroImageID: req.HeroImageId,
		PictureIDs: req.GetPictureIds(), Locales: locales,
	})
	if err != nil {
		return nil, err
	}
	resp.Greeting, resp.Hero, resp.PictureIds = fields.Optional(&page.Greeting), s.present.images(page.Hero), page.PictureIDs
	resp.Categories = categoriesOf(resp.GetGifts(), page.Categories, locales)
	return resp, nil
}

// optionalIDOrUnknown is idOrUnknown for an id that may be nil.
func optionalIDOrUnknown(value *string) *string {
	if value == nil {
		return nil
	}
	id := idOrUnknown(*value)
	return &id
}

// categoriesOf returns the categories that the gifts have, in their display order.
func categoriesOf(gifts []*catalogv1.SelectionGift, all []rules.Label, locales []string) []*catalogv1.SelectionCategory {
	used := map[string]bool{}
	for _, g := range gifts {
		for _, code := range g.GetCategories() {
			used[code] = true
		}
	}
	var out []*catalogv1.SelectionCategory
	for _, c := range all {
		if used[c.Code] {
			out = append(out, &catalogv1.SelectionCategory{Code: c.Code, Name: c.InFirst(locales)})
		}
	}
	return out
}

func (s *service) catalogGifts(
	ctx context.Context, tenantID string, req *catalogv1.ListSelectionGiftsRequest, locales []string,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	gifts, err := s.Store.GiftViews(ctx, tenantID, idsOrUnknown(req.GetSelection().GetProductIds()), locales...)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.ListSelectionGiftsResponse{Open: true}
	for _, g := range gifts {
		resp.Gifts = append(resp.Gifts, s.present.selectionGift(g))
	}
	return resp, nil
}

// campaignGifts leaves out gifts that the campaign does not offer now. An unknown campaign counts as closed.
func (s *service) campaignGifts(
	ctx context.Context, tenantID string, req *catalogv1.ListSelectionGiftsRequest, locales []string,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	campaign, _, err := s.Store.Campaign(ctx, tenantID, idOrUnknown(req.GetSelection().GetCampaignId()), locales...)
	if err != nil {
		return nil, err
	}
	open := campaign.Status == rules.CampaignActive
	if req.GetPreview() {
		open = campaign.BrandID != "" && campaign.BrandID == req.GetBrandId()
	}
	if !open {
		return &catalogv1.ListSelectionGiftsResponse{}, nil
	}
	resp := &catalogv1.ListSelectionGiftsResponse{Open: true}
	for _, o := range campaign.Offerings {
		if !o.Published || o.Status != rules.OfferingActive {
			continue
		}
		gift := s.present.selectionGift(o.GiftView)
		for _, sku := range o.SKUs {
			gift.Skus = append(gift.Skus, &catalogv1.SelectionSku{Variations: sku.Variations, StockRemaining: sku.Stock})
		}
		resp.Gifts = append(resp.Gifts, gift)
	}
	return resp, nil
}

func (p presenter) selectionGift(g store.GiftView) *catalogv1.SelectionGift {
	out := &catalogv1.SelectionGift{
		ProductId: g.ProductID, Name: g.Text.Name, Description: g.Text.Description,
		Images: p.images(g.Images), Variations: variations(g.Variations), Countries: g.Countries,
		VariationTranslations: variationTranslations(g.Text.Variations), Details: giftDetails(g.Details),
		ImageVariations: imageVariations(g.ImageVariations), CustomizationAvailable: g.CustomizationAvailable,
	}
	for _, subcategory := range g.Categories { // SPORT__CLOTHING is a subcategory of SPORT.
		if code, _, _ := strings.Cut(subcategory, "__"); !slices.Contains(out.GetCategories(), code) {
			out.Categories = append(out.Categories, code)
		}
	}
	return out
}

// GetOrderedGift returns a gift for the page of its order. A player who has ordered a gift can still see it after its campaign has
// ended or the gift has left the catalog.
func (s *service) GetOrderedGift(
	ctx context.Context, req *catalogv1.GetOrderedGiftRequest,
) (*catalogv1.GetOrderedGiftResponse, error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.RequiredUUID("tenantId", req.GetTenantId())
	productID := errs.RequiredUUID("productId", req.GetProductId())
	errs.Line("locale", req.GetLocale(), rules.MaxLocale)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	gift, found, err := s.Store.OrderedGift(ctx, tenantID, productID, fields.LocaleFallbacks(req.GetLocale())...)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, problem.RecordNotFound()
	}
	return &catalogv1.GetOrderedGiftResponse{Gift: s.present.selectionGift(gift)}, nil
}
