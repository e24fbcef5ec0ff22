package server_test

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// gifts is the catalog: one campaign, and the gifts that everybody may choose.
type gifts struct {
	catalogv1.SelectionsServiceClient
	campaignID, brandID string
	closed              bool
	gifts               []*catalogv1.SelectionGift
	failure             error
}

func (g *gifts) CheckSelection(
	_ context.Context, r *catalogv1.CheckSelectionRequest, _ ...grpc.CallOption,
) (*catalogv1.CheckSelectionResponse, error) {
	if g.failure != nil {
		return nil, g.failure
	}
	if r.GetSelection().CampaignId == nil {
		for _, id := range r.GetSelection().GetProductIds() {
			if !slices.ContainsFunc(g.gifts, func(gift *catalogv1.SelectionGift) bool { return gift.GetProductId() == id }) {
				return nil, problem.New(problem.ProductNotFound, "no")
			}
		}
		return &catalogv1.CheckSelectionResponse{}, nil
	}
	if r.GetSelection().GetCampaignId() != g.campaignID || !r.GetAllBrands() && !slices.Contains(r.GetBrandIds(), g.brandID) {
		return nil, problem.New(problem.CampaignNotFound, "no")
	}
	return &catalogv1.CheckSelectionResponse{CampaignBrandId: g.brandID}, nil
}

func (g *gifts) ListSelectionGifts(
	_ context.Context, r *catalogv1.ListSelectionGiftsRequest, _ ...grpc.CallOption,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	resp := &catalogv1.ListSelectionGiftsResponse{Open: !g.closed}
	for _, gift := range g.gifts {
		if r.GetSelection().CampaignId != nil || slices.Contains(r.GetSelection().GetProductIds(), gift.GetProductId()) {
			resp.Gifts = append(resp.Gifts, gift)
		}
	}
	return resp, nil
}
