package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// CorrectTracking replaces the shipment of an order on its way.
func (s *Server) CorrectTracking(ctx context.Context, req *ordersv1.CorrectTrackingRequest) (*ordersv1.CorrectTrackingResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckShipment(req.GetShipment(), errs)
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_CORRECT_TRACKING, req, func(current *rules.Current) (*rules.Change, error) {
		return rules.CorrectShipment(current, req.GetShipment(), s.now())
	}, errs)
	if err != nil {
		return nil, err
	}
	return &ordersv1.CorrectTrackingResponse{Order: order}, nil
}
