package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// ReadOrder returns an order with its delivery details. It commits the audit row first.
func (s *Server) ReadOrder(ctx context.Context, req *ordersv1.ReadOrderRequest) (*ordersv1.ReadOrderResponse, error) {
	a, err := s.admit(ctx, ordersv1.Operation_OPERATION_READ, req, caller.RequestErrors(ctx))
	if err != nil {
		return nil, err
	}
	if err := s.Store.AuditRead(ctx, a); err != nil {
		return nil, notFound(err)
	}
	resp, err := s.readFile(ctx, a)
	return resp, notFound(err)
}

func (s *Server) readFile(ctx context.Context, a rules.Audit) (*ordersv1.ReadOrderResponse, error) {
	full, err := s.Store.GetFull(ctx, a.TenantID, a.OrderID)
	if err != nil {
		return nil, err
	}
	resp := &ordersv1.ReadOrderResponse{Order: full.Record, Fulfilment: full.Fulfilment, DetailsState: detailsState(a, full)}
	if resp.GetDetailsState() == ordersv1.DetailsState_DETAILS_STATE_READABLE {
		details, err := full.Details()
		if err != nil {
			return nil, err
		}
		resp.Details = details.Present()
	}
	return resp, nil
}

func detailsState(a rules.Audit, full *store.FullOrder) ordersv1.DetailsState {
	team := a.Actor.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT
	switch {
	case full.DetailsErased:
		return ordersv1.DetailsState_DETAILS_STATE_ERASED
	case team && full.Record.GetSource() == ordersv1.OrderSource_ORDER_SOURCE_PERSONAL_LINK:
		return ordersv1.DetailsState_DETAILS_STATE_WITHHELD
	}
	return ordersv1.DetailsState_DETAILS_STATE_READABLE
}

// ListAudit lists the operations on an order. Each call of it adds an entry, which is the newest.
func (s *Server) ListAudit(ctx context.Context, req *ordersv1.ListAuditRequest) (*ordersv1.ListAuditResponse, error) {
	errs := caller.RequestErrors(ctx)
	binding := page.Bind("order audit", req.GetTenantId(), req.GetOrderId())
	limit, after := page.Limit(req.Limit, errs), page.After(req.After, binding, errs)
	a, err := s.admit(ctx, ordersv1.Operation_OPERATION_LIST_AUDIT, req, errs)
	if err != nil {
		return nil, err
	}
	if err := s.Store.AuditRead(ctx, a); err != nil {
		return nil, notFound(err)
	}
	entries, err := s.Store.ListAudit(ctx, a.TenantID, a.OrderID, after, limit+1)
	if err != nil {
		return nil, err
	}
	items, next := page.Cut(entries, limit, binding, func(last *ordersv1.AuditEntry) page.Position {
		return page.Position{Time: last.GetAt().AsTime(), ID: last.GetId()}
	})
	return &ordersv1.ListAuditResponse{Entries: items, NextCursor: next}, nil
}
