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
	errs := &fields.Errors{}
	req.OrderId, req.TenantId = errs.UUID("orderId", req.GetOrderId()), errs.UUID("tenantId", req.GetTenantId())
	req.PersonalLinkId = errs.UUID("personalLinkId", req.GetPersonalLinkId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, abandoned, err := s.store.FindClaim(ctx, claimOf(req))
	if err != nil || found != nil || abandoned {
		return &ordersv1.PlaceClaimedOrderResponse{Order: found}, err
	}
	resp, err := s.place(ctx, func(ctx context.Context) (*rules.NewOrder, error) { return s.newClaimedOrder(ctx, req) }, nil)
	switch {
	case errors.Is(err, store.ErrOrderIDSpent):
		return s.findDecidedClaim(ctx, req)
	case errors.Is(err, store.ErrLinkOrdered):
		// A concurrent claim was first. The unit that this one reserved is returned, and its id is never used.
		s.reservations.GiveUp(ctx, store.Reserved{TenantID: req.GetTenantId(), OrderID: req.GetOrderId()})
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
func (s *Server) findDecidedClaim(
	ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	found, abandoned, err := s.store.FindClaim(ctx, claimOf(req))
	if err != nil {
		return nil, err
	}
	if abandoned {
		s.reservations.GiveUp(ctx, store.Reserved{TenantID: req.GetTenantId(), OrderID: req.GetOrderId()})
	}
	if found == nil && !abandoned {
		return nil, problem.Unavailable()
	}
	return &ordersv1.PlaceClaimedOrderResponse{Order: found}, nil
}

func claimOf(req *ordersv1.PlaceClaimedOrderRequest) store.Claim {
	return store.Claim{TenantID: req.GetTenantId(), OrderID: req.GetOrderId(), LinkID: req.GetPersonalLinkId()}
}

// AbandonClaimedOrder ends a claim whose outcome the caller does not know.
func (s *Server) AbandonClaimedOrder(
	ctx context.Context, req *ordersv1.AbandonClaimedOrderRequest,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	errs := &fields.Errors{}
	claim := store.Claim{
		TenantID: errs.UUID("tenantId", req.GetTenantId()),
		OrderID:  errs.UUID("orderId", req.GetOrderId()),
		LinkID:   errs.UUID("personalLinkId", req.GetPersonalLinkId()),
	}
	if err := errs.Err(); err != nil {
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
