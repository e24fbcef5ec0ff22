package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// ApproveOrder lets a requested order be worked on.
func (o *Operations) ApproveOrder(ctx context.Context, req *ordersv1.ApproveOrderRequest) (*ordersv1.ApproveOrderResponse, error) {
	errs := fields.FromContext(ctx)
	a, err := o.admit(ctx, ordersv1.Operation_OPERATION_APPROVE, req, errs)
	if err != nil {
		return nil, err
	}
	order, err := o.change(ctx, a, func(current *rules.Current) (*rules.Change, error) {
		return current.Apply(rules.Approve, o.Orders.now(), nil)
	})
	if err != nil {
		return nil, err
	}
	return &ordersv1.ApproveOrderResponse{Order: order}, nil
}
