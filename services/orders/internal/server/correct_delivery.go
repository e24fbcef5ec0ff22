package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// CorrectDelivery corrects the delivery details of an order for a person.
func (s *Server) CorrectDelivery(
	ctx context.Context, req *ordersv1.CorrectDeliveryRequest,
) (*ordersv1.CorrectDeliveryResponse, error) {
	correction := &ordersv1.UpdateDeliveryRequest{
		ExpectedVersion: req.ExpectedVersion, Recipient: req.GetRecipient(), CourierComment: req.CourierComment, Urgent: req.Urgent,
	}
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_CORRECT_DELIVERY, req,
		func(current *rules.Current) (*rules.Change, error) {
			return rules.CorrectDeliveryOf(current, correction, s.now(), &fields.Errors{})
		}, caller.RequestErrors(ctx))
	if err != nil {
		return nil, err
	}
	return &ordersv1.CorrectDeliveryResponse{Order: order}, nil
}

// UpdateDelivery corrects the delivery details of an order (API specification, POST /orders/{orderId}:update-delivery).
func (s *Server) UpdateDelivery(
	ctx context.Context, req *ordersv1.UpdateDeliveryRequest,
) (*ordersv1.UpdateDeliveryResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	return changeAsKey(ctx, s, p, req.GetOrderId(), store.Action[*ordersv1.UpdateDeliveryResponse]{
		Decide: func(current *rules.Current) (*rules.Change, error) {
			return rules.CorrectDeliveryOf(current, req, s.now(), caller.RequestErrors(ctx))
		},
		Answer: func(record *ordersv1.Order) *ordersv1.UpdateDeliveryResponse {
			return &ordersv1.UpdateDeliveryResponse{Order: record}
		},
	})
}
