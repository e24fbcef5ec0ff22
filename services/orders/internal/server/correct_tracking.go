package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// CorrectTracking replaces the shipment of an order on its way.
func (o *Operations) CorrectTracking(ctx context.Context, req *ordersv1.CorrectTrackingRequest) (*ordersv1.CorrectTrackingResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckShipment(req.GetShipment(), errs)
	a, err := o.admit(ctx, ordersv1.Operation_OPERATION_CORRECT_TRACKING, req, errs)
	if err != nil {
		return nil, err
	}
	order, err := o.change(ctx, a, func(current *rules.Current) (*rules.Change, error) {
		return rules.CorrectShipment(current, req.GetShipment(), o.Orders.now())
	})
	if err != nil {
		return nil, err
	}
	return &ordersv1.CorrectTrackingResponse{Order: order}, nil
}
