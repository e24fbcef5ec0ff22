package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// PutOffering adds an offering to a campaign or replaces the one of the same gift.
func (o *campaignOperations) PutOffering(
	ctx context.Context, req *catalogv1.PutOfferingRequest,
) (*catalogv1.PutOfferingResponse, error) {
	errs := caller.RequestErrors(ctx)
	offering := rules.ReadOffering("offering", req.GetOffering(), errs)
	act := readCampaignAct(req, "offering.put", map[string]any{
		"productId": offering.ProductID, "supplyType": offering.SupplyType, "skus": offering.SKUs,
	}, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutOfferingResponse{}, o.store.PutOffering(ctx, act, offering)
}

// RemoveOffering stops offering a gift in a campaign.
func (o *campaignOperations) RemoveOffering(
	ctx context.Context, req *catalogv1.RemoveOfferingRequest,
) (*catalogv1.RemoveOfferingResponse, error) {
	errs := caller.RequestErrors(ctx)
	productID := errs.UUID("productId", req.GetProductId())
	act := readCampaignAct(req, "offering.remove", map[string]string{"productId": productID}, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.RemoveOfferingResponse{}, o.store.RemoveOffering(ctx, productID, act)
}

// ResumeOffering ends the review of an offering.
func (o *campaignOperations) ResumeOffering(
	ctx context.Context, req *catalogv1.ResumeOfferingRequest,
) (*catalogv1.ResumeOfferingResponse, error) {
	errs := caller.RequestErrors(ctx)
	productID := errs.UUID("productId", req.GetProductId())
	act := readCampaignAct(req, "offering.resume", map[string]string{"productId": productID}, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.ResumeOfferingResponse{}, o.store.ResumeOffering(ctx, productID, act)
}

// CorrectStock changes the stock of a SKU, once per correction id.
func (o *campaignOperations) CorrectStock(
	ctx context.Context, req *catalogv1.CorrectStockRequest,
) (*catalogv1.CorrectStockResponse, error) {
	errs := caller.RequestErrors(ctx)
	id := rules.RecordID("correctionId", req.GetCorrectionId(), errs)
	correction := rules.ReadCorrection(req, errs)
	entry := store.StockCorrection{
		SKUID: errs.UUID("skuId", req.GetSkuId()), Add: correction.Add, Expected: correction.Expected, Stock: correction.Stock,
		Reason: req.GetReason(),
	}
	act := readCampaignAct(req, "stock.correct", nil, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	after, err := o.store.CorrectStock(ctx, id, act, correction, entry)
	if err != nil {
		return nil, err
	}
	return &catalogv1.CorrectStockResponse{StockRemaining: after}, nil
}
