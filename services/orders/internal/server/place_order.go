package server

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
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
		settings, err := s.tenants.Get(ctx, p.TenantID, p.TenantVersion)
		if err != nil {
			return nil, err
		}
		errs := fields.FromContext(ctx)
		rules.CheckPlaceOrder(req, settings.GetTenant().GetCurrency(), errs)
		placement := rules.Placement{
			Request: req, TenantID: p.TenantID, OrderID: uuid.Must(uuid.NewV7()).String(),
			Source: ordersv1.OrderSource_ORDER_SOURCE_API, PlacedByKeyID: p.KeyID, PlacedByKey: p.KeyName,
		}
		if err := s.check(ctx, &placement, p, settings, errs); err != nil {
			return nil, err
		}
		reservationKey := []byte(placement.OrderID)
		if r, ok := idempotency.FromContext(ctx); ok {
			reservationKey = r.ReservationKey()
		}
		return s.reserve(ctx, placement, reservationKey)
	}, func(order *rules.NewOrder, err error) error { return s.refusePlacing(ctx, p, order, err) })
}

// refusePlacing translates an error of the transaction for the caller. It returns the reserved stock if the order will not be
// placed.
func (s *Server) refusePlacing(ctx context.Context, p caller.Principal, order *rules.NewOrder, err error) error {
	switch {
	case errors.Is(err, store.ErrOrderIDSpent):
		return problem.Unavailable()
	case !errors.Is(err, store.ErrExternalOrderIDTaken):
		return err
	}
	if order.Reserved {
		s.reservations.GiveUp(ctx, order.Record.GetId())
	}
	id, brandID, err := s.store.FindByExternalID(ctx, p.TenantID, order.Record.GetExternalOrderId())
	if err != nil {
		return err
	}
	conflict := problem.New(problem.ExternalOrderIDConflict, "The tenant already has an order with this externalOrderId.")
	if p.Reaches(brandID) {
		conflict.OrderID = id
	}
	return conflict
}
