package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// maxReferences bounds how often a collision of references is met; one is already a rarity.
const maxReferences = 3

// PlaceOrder places an order for the calling key (API specification, POST /orders).
func (s *Server) PlaceOrder(ctx context.Context, req *ordersv1.PlaceOrderRequest) (*ordersv1.PlaceOrderResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		resp, err := idempotency.Run(ctx, s.Store.Pool(),
			func(ctx context.Context) (idempotency.Effect[*ordersv1.PlaceOrderResponse], error) {
				return s.preparePlaceOrder(ctx, p, req)
			})
		if !errors.Is(err, store.ErrReferenceTaken) || attempt == maxReferences {
			return resp, err
		}
	}
}

func (s *Server) preparePlaceOrder(
	ctx context.Context, p caller.Principal, req *ordersv1.PlaceOrderRequest,
) (effect idempotency.Effect[*ordersv1.PlaceOrderResponse], err error) {
	settings, err := s.Tenants.Get(ctx, p.TenantID, p.TenantVersion)
	if err != nil {
		return effect, err
	}
	errs := fields.FromContext(ctx)
	rules.CheckPlaceOrder(req, settings.GetTenant().GetCurrency(), errs)
	order, err := s.newOrder(ctx, p, uuid.Must(uuid.NewV7()).String(), settings, req, errs)
	if err != nil {
		return effect, err
	}
	event, err := placedEvent(order)
	if err != nil {
		return effect, err
	}
	effect.Answer = &ordersv1.PlaceOrderResponse{Order: order.Record}
	effect.Queue, err = s.Store.QueuePlaceOrder(ctx, order, event)
	effect.Translate = func(err error) error { return s.placeOrderFault(ctx, p, order, store.PlaceOrderError(err)) }
	return effect, err
}

// newOrder decides everything about the order that the request and the settings decide. Its id is
// orderID, or that of an earlier attempt at the same request.
func (s *Server) newOrder(
	ctx context.Context, p caller.Principal, orderID string, settings *tenantSettings, req *ordersv1.PlaceOrderRequest,
	errs *fields.Errors,
) (*rules.NewOrder, error) {
	item, err := s.decideItem(ctx, p, settings, req, errs)
	if err != nil {
		return nil, err
	}
	answers, err := rules.CheckCustomFields(settings.GetTenant().GetCustomFields(), req.GetCustomFields())
	if err != nil {
		return nil, err
	}
	var managerID string
	if email := rules.Optional(req.ManagerEmail); email != nil {
		if managerID, err = rules.FindManager(settings.GetTeam(), *email); err != nil {
			return nil, err
		}
	}
	if item.stocked {
		if orderID, err = s.reserve(ctx, p, req, orderID); err != nil {
			return nil, err
		}
	}
	now := s.now()
	return &rules.NewOrder{
		Record: &ordersv1.Order{
			Id:                         orderID,
			Reference:                  rules.NewReference(),
			ExternalOrderId:            rules.Optional(&req.ExternalOrderId),
			ExternalRecipientId:        rules.Optional(req.ExternalRecipientId),
			ExternalCampaignRef:        rules.Optional(req.ExternalCampaignRef),
			ExternalActionRef:          rules.Optional(req.ExternalActionRef),
			Source:                     ordersv1.OrderSource_ORDER_SOURCE_API,
			BrandId:                    item.brandID,
			CampaignId:                 req.CampaignId,
			Status:                     rules.FirstStatus(settings.GetTenant().GetApprovalRequired()),
			Items:                      []*ordersv1.OrderItem{item.record},
			DeliveryCountry:            req.GetRecipient().GetAddress().GetCountry(),
			Urgent:                     req.GetUrgent(),
			ReceivedOutsideActiveHours: !s.Hours.Open(now),
			CreatedAt:                  timestamppb.New(now),
			UpdatedAt:                  timestamppb.New(now),
		},
		TenantID:       p.TenantID,
		Details:        rules.NewDetails(req, answers),
		Budget:         item.budget,
		ManagerID:      managerID,
		PlacedByKeyID:  p.KeyID,
		PlacedByKey:    p.KeyName,
		AfterHours:     req.GetAfterHoursServiceAccepted(),
		BrandedPackage: req.GetBrandedPackagingRequested(),
		Reserved:       item.stocked,
	}, nil
}

func placedEvent(o *rules.NewOrder) (outbox.Event, error) {
	data, err := restjson.Marshal(o.Record)
	if err != nil {
		return outbox.Event{}, fmt.Errorf("encode event: %w", err)
	}
	return outbox.Event{
		ID:          uuid.Must(uuid.NewV7()).String(),
		Type:        rules.EventCreated,
		TenantID:    o.TenantID,
		BrandID:     o.Record.GetBrandId(),
		SubjectID:   o.Record.GetId(),
		OriginKeyID: o.PlacedByKeyID,
		OccurredAt:  o.Record.GetUpdatedAt().AsTime(),
		Data:        data,
	}, nil
}

// placeOrderFault says what a failed transaction means to the caller, and gives back what was
// reserved for an order that will not come.
func (s *Server) placeOrderFault(ctx context.Context, p caller.Principal, o *rules.NewOrder, err error) error {
	switch {
	case errors.Is(err, store.ErrExternalOrderIDTaken):
		if o.Reserved {
			s.GiveUp(ctx, o.Record.GetId())
		}
		return s.externalOrderIDConflict(ctx, p, o.Record.GetExternalOrderId())
	case errors.Is(err, store.ErrReservationAbandoned):
		return problem.Unavailable()
	}
	return err
}

func (s *Server) externalOrderIDConflict(ctx context.Context, p caller.Principal, externalID string) error {
	id, brandID, err := s.Store.FindByExternalID(ctx, p.TenantID, externalID)
	if err != nil {
		return err
	}
	conflict := problem.New(problem.ExternalOrderIDConflict, "The tenant already has an order with this externalOrderId.")
	if p.Reaches(brandID) {
		conflict.OrderID = id
	}
	return conflict
}
