package server

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// ListOrders lists the orders that the key may see (API specification, GET /orders).
func (s *Server) ListOrders(ctx context.Context, req *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	req.BrandId = errs.OptionalUUID("brandId", req.BrandId)
	req.UpdatedSince = page.Since(req.GetUpdatedSince(), errs)
	limit, binding := page.Limit(req.Limit, errs), page.BindRequest("orders", p.TenantID, req)
	after := page.After(req.After, binding, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	orders, err := s.Store.List(ctx, store.List{Key: p, Filters: req, After: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	items, next := page.Cut(orders, limit, binding, positionOf)
	return &ordersv1.ListOrdersResponse{Items: items, NextCursor: next}, nil
}

// positionOf is the position of an order in lists, which show the newest first.
func positionOf(o *ordersv1.Order) page.Position {
	return page.Position{Time: o.GetCreatedAt().AsTime(), ID: o.GetId()}
}

// SearchOrders finds orders by reference, external id, status and other fields.
func (s *Server) SearchOrders(ctx context.Context, req *ordersv1.SearchOrdersRequest) (*ordersv1.SearchOrdersResponse, error) {
	errs := caller.RequestErrors(ctx)
	caller.CheckActor(req.GetActor(), errs)
	checkSearch(req, errs)
	limit, binding := page.Limit(req.Limit, errs), page.BindRequest("order search", "", req)
	after := page.After(req.After, binding, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	a := rules.Audit{TenantID: req.GetTenantId(), Actor: req.GetActor(), Operation: ordersv1.Operation_OPERATION_SEARCH}
	if err := s.permit(ctx, a); err != nil {
		return nil, err
	}
	if err := s.Store.AuditSearch(ctx, a); err != nil {
		return nil, err
	}
	found, err := s.Store.Search(ctx, store.Search{Filters: req, After: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	orders, next := page.Cut(found, limit, binding,
		func(last *ordersv1.FoundOrder) page.Position { return positionOf(last.GetOrder()) })
	return &ordersv1.SearchOrdersResponse{Orders: orders, NextCursor: next}, nil
}

// checkSearch finds the errors of the filters, one of which must be served by an index. Ids are rewritten in lower case.
func checkSearch(req *ordersv1.SearchOrdersRequest, errs *fields.Errors) {
	if req.Status != nil && !slices.Contains(rules.Statuses(), req.GetStatus()) {
		errs.Add("status", problem.FieldInvalid, "must be a status of an order")
	}
	// The orders of all tenants that have a status are too many to look for a brand, a campaign or an external id among them.
	onlyStatus := req.Status != nil && req.ExternalOrderId == nil && req.BrandId == nil && req.CampaignId == nil
	everywhere := req.GetActor().GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT &&
		(req.Reference != nil || onlyStatus)
	if req.TenantId == nil && !everywhere {
		errs.Add("tenantId", problem.FieldRequired,
			"is required; the operator may leave it out with a reference, or with a status and no other filter than times")
	}
	req.TenantId = errs.OptionalUUID("tenantId", req.TenantId)
	req.BrandId = errs.OptionalUUID("brandId", req.BrandId)
	req.CampaignId = errs.OptionalUUID("campaignId", req.CampaignId)
	checkInstant("placedFrom", req.GetPlacedFrom(), errs)
	checkInstant("placedBefore", req.GetPlacedBefore(), errs)
}

func checkInstant(field string, at *timestamppb.Timestamp, errs *fields.Errors) {
	if at != nil && !at.IsValid() {
		errs.Add(field, problem.FieldInvalid, "must be an instant between the years 1 and 9999")
	}
}
