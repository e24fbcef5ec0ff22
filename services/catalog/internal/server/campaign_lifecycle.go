package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// StartCampaign opens a campaign in preparation for orders.
func (o *campaignOperations) StartCampaign(
	ctx context.Context, req *catalogv1.StartCampaignRequest,
) (*catalogv1.StartCampaignResponse, error) {
	errs := fields.FromContext(ctx)
	tenantID, act := readCampaignAct(req, "campaign.start", nil, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.StartCampaignResponse{}, o.store.StartCampaign(ctx, tenantID, act)
}

// CompleteCampaign ends a campaign for orders.
func (o *campaignOperations) CompleteCampaign(
	ctx context.Context, req *catalogv1.CompleteCampaignRequest,
) (*catalogv1.CompleteCampaignResponse, error) {
	errs := fields.FromContext(ctx)
	tenantID, act := readCampaignAct(req, "campaign.complete", nil, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.CompleteCampaignResponse{}, o.store.CompleteCampaign(ctx, tenantID, act)
}
