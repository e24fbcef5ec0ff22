package server

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// PlaceOrder places an order for the calling key (API specification, POST /orders).
func (s *Server) PlaceOrder(ctx context.Context, req *ordersv1.PlaceOrderRequest) (*ordersv1.PlaceOrderResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	return s.place(ctx, func(ctx context.Context) (*rules.NewOrder, error) {
		e, err := s.examine(ctx, p, req)
		if err != nil {
			return nil, err
		}
		if err := s.check(ctx, e); err != nil {
			return nil, err
		}
		reservationKey := []byte(e.placement.OrderID)
		if r, ok := idempotency.FromContext(ctx); ok {
			reservationKey = r.ReservationKey()
		}
		return s.reserve(ctx, *e.placement, reservationKey)
	}, func(order *rules.NewOrder, err error, about *idempotency.Record) error {
		return s.refusePlacing(ctx, p, order, err, about)
	})
}

// examine begins the examination of an order that a key wants to place, with its field errors.
func (s *Server) examine(ctx context.Context, p caller.Principal, req *ordersv1.PlaceOrderRequest) (*examination, error) {
	settings, err := s.tenants.Get(ctx, p.TenantID, p.TenantVersion)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckPlaceOrder(req, settings.GetTenant(), errs)
	return &examination{principal: p, settings: settings, errs: errs, placement: &rules.Placement{
		Request: req, TenantID: p.TenantID, OrderID: uuid.Must(uuid.NewV7()).String(),
		Source: ordersv1.OrderSource_ORDER_SOURCE_API, PlacedByKeyID: p.KeyID, PlacedByKey: p.KeyName,
		ApprovalRequired: settings.GetTenant().GetApprovalRequired(), Pace: s.paceOf(req, errs),
	}}, nil
}

// refusePlacing translates an error of the transaction for the caller. It returns the reserved stock if the order will not be
// placed.
func (s *Server) refusePlacing(
	ctx context.Context, p caller.Principal, order *rules.NewOrder, err error, about *idempotency.Record,
) error {
	switch {
	case errors.Is(err, store.ErrOrderIDSpent):
		return problem.Unavailable()
	case !errors.Is(err, store.ErrExternalOrderIDTaken):
		return err
	}
	if order.Reserved {
		s.reservations.GiveUp(ctx, store.Reserved{TenantID: order.TenantID, OrderID: order.Record.GetId()})
	}
	shown, conflict := s.findConflict(ctx, p, order.Record.GetExternalOrderId())
	if shown != "" {
		about.BrandID = shown
	}
	if conflict != nil {
		return conflict
	}
	return err
}

// findConflict returns the error of an order whose external id another one has, and nil if none has it. It also returns the brand of
// that order, if the error shows its id.
func (s *Server) findConflict(ctx context.Context, p caller.Principal, externalID string) (shown string, _ error) {
	id, brandID, err := s.store.FindByExternalID(ctx, p.TenantID, externalID)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	conflict := problem.New(problem.ExternalOrderIDConflict, "The tenant already has an order with this externalOrderId.")
	if p.Reaches(brandID) {
		conflict.OrderID, shown = id, brandID
	}
	return shown, conflict
}
