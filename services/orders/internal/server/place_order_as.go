package server

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// PlaceOrderAs places an order for a person, once under the id the caller chose.
func (o *Operations) PlaceOrderAs(ctx context.Context, req *ordersv1.PlaceOrderAsRequest) (*ordersv1.PlaceOrderAsResponse, error) {
	errs := fields.FromContext(ctx)
	if req.GetOrder() == nil {
		errs.Add("order", problem.FieldRequired, "is required")
	}
	a, err := o.admit(ctx, ordersv1.Operation_OPERATION_PLACE, req, errs)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		order, err := o.placeOnce(ctx, a, req.GetOrder())
		switch {
		case err == nil:
			return &ordersv1.PlaceOrderAsResponse{Order: order}, nil
		case !errors.Is(err, store.ErrReferenceTaken) || attempt == maxReferences:
			return nil, err
		}
	}
}

func (o *Operations) placeOnce(ctx context.Context, a rules.Audit, req *ordersv1.PlaceOrderRequest) (*ordersv1.Order, error) {
	if placed, err := o.placedBefore(ctx, a); placed != nil || err != nil {
		return placed, err
	}
	order, err := o.newOrderAs(ctx, a, req)
	if err != nil {
		return nil, err
	}
	event, err := placedEvent(order)
	if err != nil {
		return nil, err
	}
	queue, err := o.Orders.Store.QueuePlaceOrder(ctx, order, event)
	if err != nil {
		return nil, err
	}
	err = postgres.Pipeline(ctx, o.Orders.Store.Pool(), func(b *pgx.Batch) {
		store.QueueAudit(b, a, nil, order.Record)
		queue(b)
	})
	if err != nil {
		return o.notPlaced(ctx, a, order, store.PlaceOrderError(err))
	}
	return order.Record, nil
}

// placedBefore gives the order that stands under the id, if this channel placed it.
func (o *Operations) placedBefore(ctx context.Context, a rules.Audit) (*ordersv1.Order, error) {
	order, err := o.Orders.Store.Get(ctx, a.TenantID, a.OrderID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // No order and no fault.
	}
	if err != nil {
		return nil, err
	}
	if order.GetSource() != source(a.Actor) {
		return nil, orderIDSpent()
	}
	return order, o.Orders.Store.AuditRead(ctx, a)
}

func (o *Operations) newOrderAs(ctx context.Context, a rules.Audit, req *ordersv1.PlaceOrderRequest) (*rules.NewOrder, error) {
	settings, err := o.Orders.Tenants.Fresh(ctx, a.TenantID)
	if err != nil {
		return nil, err
	}
	errs := &fields.Errors{}
	rules.CheckPlaceOrderAs(req, settings.GetTenant().GetCurrency(), errs)
	everywhere := caller.Principal{TenantID: a.TenantID, AllBrands: true}
	order, err := o.Orders.newOrder(ctx, everywhere, a.OrderID, settings, req, errs)
	if err != nil {
		return nil, err
	}
	order.Record.Source = source(a.Actor)
	// Stock is held by the order's id alone: an id that holds a unit for another tenant is spent.
	order.Claimed = true
	return order, nil
}

// notPlaced says what a failed transaction means: another call may have placed the order first.
func (o *Operations) notPlaced(ctx context.Context, a rules.Audit, order *rules.NewOrder, err error) (*ordersv1.Order, error) {
	if !errors.Is(err, store.ErrReservationAbandoned) {
		return nil, err
	}
	if placed, err := o.placedBefore(ctx, a); placed != nil || err != nil {
		return placed, err
	}
	if order.Reserved {
		o.Orders.GiveUp(ctx, a.OrderID)
	}
	return nil, orderIDSpent()
}

func orderIDSpent() error {
	return problem.New(problem.IdempotencyKeyReused, "This orderId was used before and is spent: choose another.")
}

func source(a *commonv1.Actor) ordersv1.OrderSource {
	if a.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT {
		return ordersv1.OrderSource_ORDER_SOURCE_WORKSPACE
	}
	return ordersv1.OrderSource_ORDER_SOURCE_BACKOFFICE
}
