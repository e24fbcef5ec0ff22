package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// DeliverOrder completes an order that has arrived.
func (s *Server) DeliverOrder(ctx context.Context, req *ordersv1.DeliverOrderRequest) (*ordersv1.DeliverOrderResponse, error) {
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_DELIVER, req, func(current *rules.Current) (*rules.Change, error) {
		return current.Apply(rules.Deliver, s.now(), nil)
	}, fields.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	return &ordersv1.DeliverOrderResponse{Order: order}, nil
}
