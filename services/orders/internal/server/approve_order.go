package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// ApproveOrder lets a requested order be worked on.
func (s *Server) ApproveOrder(ctx context.Context, req *ordersv1.ApproveOrderRequest) (*ordersv1.ApproveOrderResponse, error) {
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_APPROVE, req, func(current *rules.Current) (*rules.Change, error) {
		return current.Apply(rules.Approve, s.now(), nil)
	}, fields.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	return &ordersv1.ApproveOrderResponse{Order: order}, nil
}
