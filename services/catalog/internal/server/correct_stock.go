package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// CorrectStock changes the stock of a SKU, once per correction id.
func (o *campaignOperations) CorrectStock(
	ctx context.Context, req *catalogv1.CorrectStockRequest,
) (*catalogv1.CorrectStockResponse, error) {
	errs := fields.FromContext(ctx)
	id := rules.RecordID("correctionId", req.GetCorrectionId(), errs)
	correction := rules.ReadCorrection(req, errs)
	entry := store.StockCorrection{
		SKUID: errs.UUID("skuId", req.GetSkuId()), Add: correction.Add, Expected: correction.Expected, Stock: correction.Stock,
		Reason: req.GetReason(),
	}
	tenantID, act := readCampaignAct(req, "stock.correct", nil, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	after, err := o.store.CorrectStock(ctx, tenantID, id, act, correction, entry)
	if err != nil {
		return nil, err
	}
	return &catalogv1.CorrectStockResponse{StockRemaining: after}, nil
}
