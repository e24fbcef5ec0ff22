package server

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
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
	order, err := s.prepareForKey(ctx, p, req)
	if err != nil {
		return s.refuseOrder(ctx, err, idempotency.Record{})
	}
	resp, err := s.commitOrder(ctx, order)
	switch {
	case errors.Is(err, store.ErrOrderIDSpent):
		return nil, problem.Unavailable()
	case errors.Is(err, store.ErrExternalOrderIDTaken):
		s.returnUnit(ctx, order)
		shownBrandID, conflict := s.findConflict(ctx, p, order.Record.GetExternalOrderId())
		if conflict == nil {
			return nil, err // The other order is gone again.
		}
		about := idempotency.Record{BrandID: cmp.Or(shownBrandID, order.Record.GetBrandId())}
		return s.refuseOrder(ctx, conflict, about)
	}
	return resp, err
}

// refuseOrder returns the answer of an earlier attempt, if there is one. Otherwise it stores the error as the answer and returns
// it.
func (s *Server) refuseOrder(ctx context.Context, err error, about idempotency.Record) (*ordersv1.PlaceOrderResponse, error) {
	stored, err := idempotency.Refuse[*ordersv1.PlaceOrderResponse](ctx, s.Store.Pool(), err, about)
	if err == nil {
		s.announceAutoAdvance(ctx, stored.GetOrder())
	}
	return stored, err
}

// prepareForKey examines the order that a key wants to place, and reserves its stock.
func (s *Server) prepareForKey(ctx context.Context, p caller.Principal, req *ordersv1.PlaceOrderRequest) (*rules.NewOrder, error) {
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
}

// examine begins the examination of an order that a key wants to place, with its field errors.
func (s *Server) examine(ctx context.Context, p caller.Principal, req *ordersv1.PlaceOrderRequest) (*examination, error) {
	settings, err := s.Tenants.Get(ctx, p.TenantID, p.TenantVersion)
	if err != nil {
		return nil, err
	}
	errs := edgeErrors(ctx, req)
	rules.CheckPlaceOrder(req, settings.GetTenant(), errs)
	return &examination{principal: p, settings: settings, errs: errs, placement: &rules.Placement{
		Request: req, TenantID: p.TenantID, OrderID: uuid.Must(uuid.NewV7()).String(),
		Source: ordersv1.OrderSource_ORDER_SOURCE_API, PlacedByKeyID: p.KeyID, PlacedByKey: p.KeyName,
		ApprovalRequired: settings.GetTenant().GetApprovalRequired(), AutoAdvance: s.autoAdvanceOf(req, errs),
	}}, nil
}

const tooManyVariations = 100 // A gift has at most ten dimensions.

// edgeErrors are the violations that the gateway found, without the one for too many variations, which have their own problem code:
// the catalog finds that those which were read are not one value for each dimension.
func edgeErrors(ctx context.Context, req *ordersv1.PlaceOrderRequest) *fields.Errors {
	errs := &fields.Errors{}
	items := req.GetItems()
	tooMany := len(items) == 1 && len(items[0].GetVariations()) >= tooManyVariations
	for _, v := range caller.RequestFrom(ctx).Violations {
		if v.Field != variationsPath || !tooMany {
			errs.Add(v.Field, v.Code, v.Message)
		}
	}
	return errs
}

// check returns the first error of the order. It asks the catalog about the item unless an earlier check fails. Without an error,
// the placement is complete.
func (s *Server) check(ctx context.Context, e *examination) error {
	var itemErrors []error
	if e.asksCatalog() && (e.customizes() || e.errs.Err() == nil && e.checkBrand() == nil) {
		gift, err := s.Catalog.CheckItem(ctx, e.itemRequest())
		if err != nil {
			itemErrors = []error{err}
		}
		e.placement.Gift = gift
	}
	if found := e.problems(itemErrors); len(found) > 0 {
		return found[0]
	}
	if e.placement.Request.CampaignId != nil {
		e.placement.BrandID = e.placement.Gift.GetCampaignBrandId()
	}
	return nil
}

// reserve takes the unit of campaign stock that the order needs, and makes the order. The first attempt under the reservation key
// decides the order's id.
func (s *Server) reserve(ctx context.Context, placement rules.Placement, key []byte) (*rules.NewOrder, error) {
	if placement.Gift.GetStocked() {
		if err := idempotency.BeforeEffect(ctx, s.Store.Pool()); err != nil {
			return nil, err
		}
		item := placement.Request.GetItems()[0]
		reserved, err := s.Catalog.Reserve(ctx, &catalogv1.ReserveRequest{
			ReservationKey: key,
			OrderId:        placement.OrderID,
			TenantId:       placement.TenantID,
			CampaignId:     placement.Request.GetCampaignId(),
			ProductId:      item.GetProductId(),
			Variations:     item.GetVariations(),
		})
		if err != nil {
			return nil, err
		}
		placement.OrderID = reserved.GetOrderId()
	}
	return placement.NewOrder(s.now(), s.Hours, s.Cell), nil
}

// returnUnit returns the unit that was reserved for an order that will not be placed.
func (s *Server) returnUnit(ctx context.Context, order *rules.NewOrder) {
	if order.Reserved {
		s.Reservations.Abandon(ctx, store.Reserved{TenantID: order.TenantID, OrderID: order.Record.GetId()})
	}
}

// maxReferences bounds how often an order gets another reference because one is taken. Even one collision is rare.
const maxReferences = 3

// commitOrder commits the order of any channel, its event and the answer stored for a key in one transaction.
func (s *Server) commitOrder(ctx context.Context, order *rules.NewOrder) (*ordersv1.PlaceOrderResponse, error) {
	for attempt := 1; ; attempt++ {
		queue, err := s.Store.QueuePlaceOrder(ctx, order)
		if err != nil {
			return nil, err
		}
		resp, err := idempotency.Commit(ctx, s.Store.Pool(), idempotency.Effect[*ordersv1.PlaceOrderResponse]{
			Answer: &ordersv1.PlaceOrderResponse{Order: order.Record},
			Record: idempotency.Record{BrandID: order.Record.GetBrandId()},
			Queue:  queue,
		})
		err = store.PlaceOrderError(err)
		if errors.Is(err, store.ErrReferenceTaken) && attempt < maxReferences {
			order.Record.Reference = rules.NewReference(s.Cell)
			continue
		}
		if err == nil {
			s.announceAutoAdvance(ctx, resp.GetOrder())
		}
		return resp, err
	}
}

// findConflict returns the error of an order whose external id another one has, and nil if none has it. If the error shows the id
// of that other order, it also returns its brand.
func (s *Server) findConflict(ctx context.Context, p caller.Principal, externalID string) (shownBrandID string, conflict error) {
	id, brandID, err := s.Store.FindByExternalID(ctx, p.TenantID, externalID)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	taken := problem.New(problem.ExternalOrderIDConflict, "The tenant already has an order with this externalOrderId.")
	if p.Reaches(brandID) {
		taken.OrderID, shownBrandID = id, brandID
	}
	return shownBrandID, taken
}
