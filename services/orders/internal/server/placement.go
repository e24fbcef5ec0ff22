package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/idempotency"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// check returns the first error of an order. Without one, the placement is complete.
func (s *Server) check(ctx context.Context, e *examination) error {
	e.ask = func() (*catalogv1.CheckItemResponse, []error) {
		gift, err := s.catalog.CheckItem(ctx, e.itemRequest())
		return gift, some(err)
	}
	for err := range e.errors() {
		return err
	}
	return nil
}

// reserve takes the unit of campaign stock that the order needs, and makes the order. The first
// attempt under the reservation key decides the order's id.
func (s *Server) reserve(ctx context.Context, placement rules.Placement, key []byte) (*rules.NewOrder, error) {
	if placement.Gift.GetStocked() {
		if err := idempotency.BeforeEffect(ctx, s.store.Pool()); err != nil {
			return nil, err
		}
		item := placement.Request.GetItems()[0]
		reserved, err := s.catalog.Reserve(ctx, &catalogv1.ReserveRequest{
			ReservationKey: key,
			OrderId:        placement.OrderID,
			TenantId:       placement.TenantID,
			CampaignId:     placement.Request.GetCampaignId(),
			ProductId:      item.GetProductId(),
			Variations:     item.GetVariations(),
		})
		if err != nil {
			return nil, err
		}
		placement.OrderID = reserved.GetOrderId()
	}
	return placement.NewOrder(s.now(), s.hours), nil
}
