package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// DeliverOrder completes an order that has arrived.
func (o *Operations) DeliverOrder(ctx context.Context, req *ordersv1.DeliverOrderRequest) (*ordersv1.DeliverOrderResponse, error) {
	errs := fields.FromContext(ctx)
	a, err := o.admit(ctx, ordersv1.Operation_OPERATION_DELIVER, req, errs)
	if err != nil {
		return nil, err
	}
	order, err := o.change(ctx, a, func(current *rules.Current) (*rules.Change, error) {
		return current.Apply(rules.Deliver, o.Orders.now(), nil)
	})
	if err != nil {
		return nil, err
	}
	return &ordersv1.DeliverOrderResponse{Order: order}, nil
}
