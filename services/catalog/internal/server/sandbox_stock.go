package server

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// SetSandboxStock sets the stock of a SKU. It waits for reservations of the SKU that are being made, and later ones see the new
// stock.
func (s *sandbox) SetSandboxStock(
	ctx context.Context, req *catalogv1.SetSandboxStockRequest,
) (*catalogv1.SetSandboxStockResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	skuID, stock := rules.ReadSandboxStock(req, errs)
	campaignID := idOrUnknown(req.GetCampaignId())
	var campaign store.CampaignView
	var found bool
	return idempotency.RunInTx(ctx, s.store.Pool(), func(b *pgx.Batch) {
		s.store.QueueSandboxStock(b, p.TenantID, campaignID, rules.BaseLocale, idOrUnknown(skuID), &campaign, &found)
	}, func() (effect idempotency.Effect[*catalogv1.SetSandboxStockResponse], err error) {
		if !found || !p.Reaches(campaign.BrandID) {
			return effect, problem.RecordNotFound()
		}
		effect.Record.BrandID = campaign.BrandID
		if err := errs.Err(); err != nil {
			return effect, err
		}
		sku, err := stockedSKU(campaign, skuID)
		if err != nil {
			return effect, err
		}
		if before := *sku.Stock; before != stock {
			act := store.Act{TenantID: p.TenantID, Subject: campaignID, Actor: rules.Sandbox(), Action: "stock.correct"}
			set := store.StockCorrection{SKUID: skuID, Expected: &before, Stock: stock, Reason: "Set in the sandbox.", Before: before, After: stock}
			effect.Queue = func(b *pgx.Batch) { s.store.QueueStock(b, act, set) }
		}
		sku.Stock = &stock
		effect.Answer = &catalogv1.SetSandboxStockResponse{Campaign: s.present.campaign(campaign)}
		return effect, nil
	})
}

// stockedSKU finds a SKU with finite stock.
func stockedSKU(c store.CampaignView, id string) (*store.SKUView, error) {
	for _, offering := range c.Offerings {
		for i := range offering.SKUs {
			sku := &offering.SKUs[i]
			switch {
			case sku.ID != id:
			case sku.Stock == nil:
				return nil, invalidSKU("names a SKU whose stock is not limited")
			default:
				return sku, nil
			}
		}
	}
	return nil, invalidSKU("names no SKU that the campaign offers")
}

func invalidSKU(message string) error {
	return problem.Invalid(problem.Violation{Field: "skuId", Code: problem.FieldInvalid, Message: message})
}
