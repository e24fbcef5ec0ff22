package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// CorrectDelivery corrects where an order ships, for a person.
func (s *Server) CorrectDelivery(ctx context.Context, req *ordersv1.CorrectDeliveryRequest) (*ordersv1.CorrectDeliveryResponse, error) {
	correction := &ordersv1.UpdateDeliveryRequest{
		ExpectedVersion: req.ExpectedVersion, Recipient: req.GetRecipient(), CourierComment: req.CourierComment, Urgent: req.Urgent,
	}
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_CORRECT_DELIVERY, req, func(current *rules.Current) (*rules.Change, error) {
		return rules.CorrectDeliveryOf(current, correction, s.now(), &fields.Errors{})
	}, fields.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	return &ordersv1.CorrectDeliveryResponse{Order: order}, nil
}
