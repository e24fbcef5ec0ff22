package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// PlaceOrderAs places an order for a person, once, under the id that the caller chose.
func (s *Server) PlaceOrderAs(ctx context.Context, req *ordersv1.PlaceOrderAsRequest) (*ordersv1.PlaceOrderAsResponse, error) {
	errs := caller.RequestErrors(ctx)
	if req.GetOrder() == nil {
		errs.Add("order", problem.FieldRequired, "is required")
	}
	a, err := s.admit(ctx, ordersv1.Operation_OPERATION_PLACE, req, errs)
	if err != nil {
		return nil, err
	}
	if placed, err := s.findPlacedAs(ctx, a); placed != nil || err != nil {
		return &ordersv1.PlaceOrderAsResponse{Order: placed}, err
	}
	order, err := s.prepareForActor(ctx, a, req.GetOrder())
	if err != nil {
		return nil, err
	}
	resp, err := s.commitOrder(ctx, order)
	if errors.Is(err, store.ErrOrderIDSpent) {
		// Another call may have placed the order first.
		placed, err := s.findPlacedAs(ctx, a)
		if placed != nil || err != nil {
			return &ordersv1.PlaceOrderAsResponse{Order: placed}, err
		}
		s.returnUnit(ctx, order)
		return nil, orderIDSpent()
	}
	return &ordersv1.PlaceOrderAsResponse{Order: resp.GetOrder()}, err
}

// findPlacedAs returns the order that has the id, if this channel placed it.
func (s *Server) findPlacedAs(ctx context.Context, a rules.Audit) (*ordersv1.Order, error) {
	order, err := s.Store.Get(ctx, a.TenantID, a.OrderID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // There is no order, which is no error.
	}
	if err != nil {
		return nil, err
	}
	if order.GetSource() != source(a.Actor) {
		return nil, orderIDSpent()
	}
	return order, s.Store.AuditRead(ctx, a)
}

// prepareForActor examines the order that a person wants to place, and reserves its stock.
func (s *Server) prepareForActor(ctx context.Context, a rules.Audit, req *ordersv1.PlaceOrderRequest) (*rules.NewOrder, error) {
	settings, err := s.Tenants.Fresh(ctx, a.TenantID)
	if err != nil {
		return nil, err
	}
	if settings.GetOffboarding() {
		return nil, problem.New(problem.NotEditable, "The tenant is off-boarded.")
	}
	e := &examination{
		principal: caller.Principal{TenantID: a.TenantID, AllBrands: true}, settings: settings, errs: &fields.Errors{},
		placement: &rules.Placement{
			Request: req, TenantID: a.TenantID, OrderID: a.OrderID, CallerChoseID: true, Source: source(a.Actor), Audit: &a,
			ApprovalRequired: settings.GetTenant().GetApprovalRequired(),
		},
	}
	rules.CheckPlaceOrderAs(req, settings.GetTenant(), e.errs)
	e.placement.AutoAdvance = s.autoAdvanceOf(req, e.errs)
	if err := s.check(ctx, e); err != nil {
		return nil, err
	}
	// Catalog holds stock by the order's id alone, so an id that holds a unit for another tenant cannot be used.
	return s.reserve(ctx, *e.placement, []byte(a.OrderID))
}

func orderIDSpent() error {
	return problem.New(problem.IdempotencyKeyReused, "This orderId was used before: choose another.")
}

func source(a *commonv1.Actor) ordersv1.OrderSource {
	if a.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT {
		return ordersv1.OrderSource_ORDER_SOURCE_WORKSPACE
	}
	return ordersv1.OrderSource_ORDER_SOURCE_BACKOFFICE
}
