package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// CancelOrder cancels an order (API specification, POST /orders/{orderId}:cancel).
func (s *Server) CancelOrder(ctx context.Context, req *ordersv1.CancelOrderRequest) (*ordersv1.CancelOrderResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckCancelReason(req.GetReason(), errs)
	return changeAsKey(ctx, s, p, req.GetOrderId(), store.Action[*ordersv1.CancelOrderResponse]{
		Decide: func(current *rules.Current) (*rules.Change, error) {
			if err := errs.Err(); err != nil {
				return nil, err
			}
			return rules.CancelOrder(current, req.GetReason(), s.now())
		},
		Answer: func(record *ordersv1.Order) *ordersv1.CancelOrderResponse {
			return &ordersv1.CancelOrderResponse{Order: record}
		},
	})
}

// CancelOrderAs cancels an order for a person, for instance to refuse one that waits for approval.
func (s *Server) CancelOrderAs(ctx context.Context, req *ordersv1.CancelOrderAsRequest) (*ordersv1.CancelOrderAsResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckCancelReason(req.GetReason(), errs)
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_CANCEL, req, func(current *rules.Current) (*rules.Change, error) {
		return rules.CancelOrder(current, req.GetReason(), s.now())
	}, errs)
	if err != nil {
		return nil, err
	}
	return &ordersv1.CancelOrderAsResponse{Order: order}, nil
}
