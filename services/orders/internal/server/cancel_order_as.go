package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// CancelOrderAs cancels an order for a person. A request is refused by cancelling it.
func (s *Server) CancelOrderAs(ctx context.Context, req *ordersv1.CancelOrderAsRequest) (*ordersv1.CancelOrderAsResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckCancelReason(req.GetReason(), errs)
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_CANCEL, req, func(current *rules.Current) (*rules.Change, error) {
		return rules.CancelOrder(current, req.GetReason(), s.now())
	}, errs)
	if err != nil {
		return nil, err
	}
	return &ordersv1.CancelOrderAsResponse{Order: order}, nil
}
