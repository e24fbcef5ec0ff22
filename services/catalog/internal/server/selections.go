package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// CheckSelection checks whether links can offer a selection now.
func (s *selections) CheckSelection(
	ctx context.Context, req *catalogv1.CheckSelectionRequest,
) (*catalogv1.CheckSelectionResponse, error) {
	errs := fields.FromContext(ctx)
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	rules.ReadSelection(req.GetSelection(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if req.GetSelection().CampaignId == nil {
		return &catalogv1.CheckSelectionResponse{}, s.checkGifts(ctx, tenantID, req.GetSelection().GetProductIds())
	}
	campaign, _, err := s.store.CampaignHead(ctx, tenantID, idOrUnknown(req.GetSelection().GetCampaignId()))
	if err != nil {
		return nil, err
	}
	reach := caller.Principal{AllBrands: req.GetAllBrands(), BrandIDs: req.GetBrandIds()}
	if err := rules.CheckSelectedCampaign(campaign.BrandID, campaign.Status, reach.Reaches); err != nil {
		return nil, err
	}
	return &catalogv1.CheckSelectionResponse{CampaignBrandId: campaign.BrandID}, nil
}

func (s *selections) checkGifts(ctx context.Context, tenantID string, named []string) error {
	ids := idsOrUnknown(named)
	known, err := s.store.States(ctx, tenantID, ids)
	if err != nil {
		return err
	}
	return rules.CheckSelectedGifts(ids, known)
}

func idsOrUnknown(named []string) []string {
	ids := make([]string, len(named))
	for i, id := range named {
		ids[i] = idOrUnknown(id)
	}
	return ids
}

// ListSelectionGifts returns the gifts that a player may choose now. Texts that are missing in the locale are in en-US; the
// locale was checked when the link was made.
func (s *selections) ListSelectionGifts(
	ctx context.Context, req *catalogv1.ListSelectionGiftsRequest,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	errs := fields.FromContext(ctx)
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	rules.ReadSelection(req.GetSelection(), errs)
	errs.MaxLen("locale", req.GetLocale(), rules.MaxLocale)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if req.GetSelection().CampaignId != nil {
		return s.campaignGifts(ctx, tenantID, req)
	}
	gifts, err := s.store.GiftViews(ctx, tenantID, idsOrUnknown(req.GetSelection().GetProductIds()), req.GetLocale())
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
func (s *selections) campaignGifts(
	ctx context.Context, tenantID string, req *catalogv1.ListSelectionGiftsRequest,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	campaign, _, err := s.store.Campaign(ctx, tenantID, idOrUnknown(req.GetSelection().GetCampaignId()), req.GetLocale())
	if err != nil {
		return nil, err
	}
	if campaign.Status != rules.CampaignActive {
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
	return &catalogv1.SelectionGift{
		ProductId: g.ProductID, Name: g.Text.Name, Description: g.Text.Description,
		Images: p.images(g.Images), Variations: variations(g.Variations), Countries: g.Countries,
	}
}
