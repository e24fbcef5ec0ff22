package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// PlaceClaimedOrder places the order of a claim, once, under the id that the claim chose. The response has no order if the
// claim was abandoned.
func (s *Server) PlaceClaimedOrder(
	ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	errs := &fields.Errors{}
	req.OrderId, req.TenantId = errs.UUID("orderId", req.GetOrderId()), errs.UUID("tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, abandoned, err := s.store.FindClaim(ctx, req.GetTenantId(), req.GetOrderId())
	if err != nil || found != nil || abandoned {
		return &ordersv1.PlaceClaimedOrderResponse{Order: found}, err
	}
	resp, err := s.place(ctx, func(ctx context.Context) (*rules.NewOrder, error) { return s.newClaimedOrder(ctx, req) }, nil)
	if errors.Is(err, store.ErrOrderIDSpent) {
		return s.findDecidedClaim(ctx, req)
	}
	return &ordersv1.PlaceClaimedOrderResponse{Order: resp.GetOrder()}, err
}

// newClaimedOrder checks the claim and takes its unit of stock. Its link was approved, so the order needs no approval.
func (s *Server) newClaimedOrder(ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest) (*rules.NewOrder, error) {
	if err := rules.CheckClaim(req); err != nil {
		return nil, err
	}
	placement := rules.ClaimPlacement(req)
	var err error
	placement.Gift, err = s.checkItem(ctx, caller.Principal{TenantID: req.GetTenantId(), AllBrands: true}, placement.Request)
	if err != nil {
		return nil, err
	}
	return s.reserve(ctx, placement, []byte("claim/"+req.GetOrderId()))
}

// findDecidedClaim returns the outcome of the first call that used the order's id: it placed the order or abandoned it.
func (s *Server) findDecidedClaim(
	ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	found, abandoned, err := s.store.FindClaim(ctx, req.GetTenantId(), req.GetOrderId())
	if err != nil {
		return nil, err
	}
	if abandoned {
		s.reservations.GiveUp(ctx, req.GetOrderId())
	}
	if found == nil && !abandoned {
		return nil, problem.Unavailable()
	}
	return &ordersv1.PlaceClaimedOrderResponse{Order: found}, nil
}

// AbandonClaimedOrder ends a claim whose outcome the caller does not know.
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
