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

// PlaceClaimedOrder places the order of a claim, once, under the id that the claim chose. If the link has an order under another
// id, it returns that one. The response has no order if the claim was abandoned.
func (s *Server) PlaceClaimedOrder(
	ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	claim, err := readClaimedOrder(req)
	if err != nil {
		return nil, err
	}
	req.OrderId, req.TenantId, req.PersonalLinkId = claim.OrderID, claim.TenantID, claim.LinkID
	found, abandoned, err := s.store.FindClaim(ctx, claim)
	if err != nil || found != nil || abandoned {
		return &ordersv1.PlaceClaimedOrderResponse{Order: found}, err
	}
	order, err := s.prepareForClaim(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, err := s.commitOrder(ctx, order)
	switch {
	case errors.Is(err, store.ErrOrderIDSpent):
		return s.findDecidedClaim(ctx, claim)
	case errors.Is(err, store.ErrLinkOrdered):
		// A concurrent claim was first. The unit that this one reserved is returned, and its id is never used.
		s.reservations.GiveUp(ctx, store.Reserved{TenantID: claim.TenantID, OrderID: claim.OrderID})
		return s.findDecidedClaim(ctx, claim)
	}
	return &ordersv1.PlaceClaimedOrderResponse{Order: resp.GetOrder()}, err
}

// prepareForClaim checks the claim and takes its unit of stock. Its link was approved, so the order needs no approval.
func (s *Server) prepareForClaim(ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest) (*rules.NewOrder, error) {
	if err := rules.CheckClaim(req); err != nil {
		return nil, err
	}
	placement := rules.ClaimPlacement(req)
	var err error
	e := &examination{
		placement: &placement, principal: caller.Principal{TenantID: req.GetTenantId(), AllBrands: true}, errs: &fields.Errors{},
	}
	placement.Gift, err = s.catalog.CheckItem(ctx, e.itemRequest())
	if err != nil {
		return nil, err
	}
	return s.reserve(ctx, placement, []byte("claim/"+req.GetOrderId()))
}

// findDecidedClaim returns the outcome of the call that was first: it placed the link's order or abandoned this one.
func (s *Server) findDecidedClaim(ctx context.Context, claim store.Claim) (*ordersv1.PlaceClaimedOrderResponse, error) {
	found, abandoned, err := s.store.FindClaim(ctx, claim)
	if err != nil {
		return nil, err
	}
	if abandoned {
		s.reservations.GiveUp(ctx, store.Reserved{TenantID: claim.TenantID, OrderID: claim.OrderID})
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
	claim, err := readClaimedOrder(req)
	if err != nil {
		return nil, err
	}
	order, err := s.store.AbandonClaim(ctx, claim)
	if err != nil {
		return nil, err
	}
	if order.GetId() != claim.OrderID {
		s.reservations.GiveUp(ctx, store.Reserved{TenantID: claim.TenantID, OrderID: claim.OrderID})
	}
	return &ordersv1.AbandonClaimedOrderResponse{Order: order}, nil
}
