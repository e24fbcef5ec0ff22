package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Claims implements ClaimsService beside the public plane.
type Claims struct {
	ordersv1.UnimplementedClaimsServiceServer

	Orders *Server
}

// AbandonClaimedOrder ends a claim whose outcome is unknown to its caller.
func (s *Server) AbandonClaimedOrder(
	ctx context.Context, req *ordersv1.AbandonClaimedOrderRequest,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	errs := &fields.Errors{}
	tenantID, orderID := errs.UUID("tenantId", req.GetTenantId()), errs.UUID("orderId", req.GetOrderId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	order, err := s.store.AbandonClaim(ctx, tenantID, orderID)
	if err != nil {
		return nil, err
	}
	if order == nil {
		s.reservations.GiveUp(ctx, orderID)
	}
	return &ordersv1.AbandonClaimedOrderResponse{Order: order}, nil
}
