package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// GetOrderedGift returns a gift for the page of its order. A player who has ordered it goes on to see it after its campaign has ended
// and after it has left the catalog.
func (s *selections) GetOrderedGift(
	ctx context.Context, req *catalogv1.GetOrderedGiftRequest,
) (*catalogv1.GetOrderedGiftResponse, error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.RequiredUUID("tenantId", req.GetTenantId())
	productID := errs.RequiredUUID("productId", req.GetProductId())
	errs.Line("locale", req.GetLocale(), rules.MaxLocale)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	gift, found, err := s.store.OrderedGift(ctx, tenantID, productID, fields.LocaleFallbacks(req.GetLocale())...)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, problem.RecordNotFound()
	}
	return &catalogv1.GetOrderedGiftResponse{Gift: s.present.selectionGift(gift)}, nil
}
