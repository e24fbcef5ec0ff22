package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
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
		return &catalogv1.CheckSelectionResponse{}, s.checkGifts(ctx, req.GetSelection().GetProductIds())
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

func (s *selections) checkGifts(ctx context.Context, named []string) error {
	ids := idsOrUnknown(named)
	known, err := s.store.States(ctx, ids)
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
