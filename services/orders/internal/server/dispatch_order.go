package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// DispatchOrder sends an order on its way.
func (s *Server) DispatchOrder(ctx context.Context, req *ordersv1.DispatchOrderRequest) (*ordersv1.DispatchOrderResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckShipment(req.GetShipment(), errs)
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_DISPATCH, req, func(current *rules.Current) (*rules.Change, error) {
		return rules.DispatchOrder(current, req.GetShipment(), s.now())
	}, errs)
	if err != nil {
		return nil, err
	}
	return &ordersv1.DispatchOrderResponse{Order: order}, nil
}
