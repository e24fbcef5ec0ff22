package server

import (
	"context"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
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
	binding := listBinding(p, req)
	filter := store.Filter{
		TenantID:            p.TenantID,
		AllBrands:           p.AllBrands,
		BrandIDs:            p.BrandIDs,
		ExternalOrderID:     req.ExternalOrderId,
		ExternalRecipientID: req.ExternalRecipientId,
		Status:              req.Status,
		Limit:               page.Limit(req.Limit, errs),
		BrandID:             errs.OptionalUUID("brandId", req.BrandId),
	}
	filter.After = page.After(req.After, binding, errs)
	if req.GetUpdatedSince() != nil {
		since := req.GetUpdatedSince().AsTime()
		filter.UpdatedSince = &since
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	limit := filter.Limit
	filter.Limit++
	orders, err := s.store.List(ctx, filter)
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

func listBinding(p caller.Principal, req *ordersv1.ListOrdersRequest) page.Binding {
	since := ""
	if req.GetUpdatedSince() != nil {
		since = req.GetUpdatedSince().AsTime().Format(time.RFC3339Nano)
	}
	return page.Bind("orders", p.TenantID, page.Part(req.ExternalOrderId), page.Part(req.ExternalRecipientId),
		strconv.Itoa(int(req.GetStatus())), page.Part(req.BrandId), since)
}

// SearchOrders finds orders by reference, external id, status and other fields.
func (s *Server) SearchOrders(ctx context.Context, req *ordersv1.SearchOrdersRequest) (*ordersv1.SearchOrdersResponse, error) {
	errs := caller.RequestErrors(ctx)
	caller.CheckActor(req.GetActor(), errs)
	binding := searchBinding(req)
	search := readSearch(req, binding, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	a := rules.Audit{TenantID: postgres.Value(search.TenantID), Actor: req.GetActor(), Operation: ordersv1.Operation_OPERATION_SEARCH}
	if err := s.permit(ctx, a); err != nil {
		return nil, err
	}
	if err := s.store.AuditSearch(ctx, a); err != nil {
		return nil, err
	}
	limit := search.Limit
	search.Limit++
	found, err := s.store.Search(ctx, search)
	if err != nil {
		return nil, err
	}
	orders, next := page.Cut(found, limit, binding,
		func(last *ordersv1.FoundOrder) page.Position { return positionOf(last.GetOrder()) })
	return &ordersv1.SearchOrdersResponse{Orders: orders, NextCursor: next}, nil
}

func readSearch(req *ordersv1.SearchOrdersRequest, binding page.Binding, errs *fields.Errors) store.Search {
	if req.Status != nil && !slices.Contains(rules.Statuses(), req.GetStatus()) {
		errs.Add("status", problem.FieldInvalid, "must be a status of an order")
	}
	everywhere := req.GetActor().GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT &&
		(req.Reference != nil || req.Status != nil)
	if req.TenantId == nil && !everywhere {
		errs.Add("tenantId", problem.FieldRequired, "is required; the operator may leave it out with a reference or a status")
	}
	return store.Search{
		TenantID:        errs.OptionalUUID("tenantId", req.TenantId),
		Reference:       req.Reference,
		ExternalOrderID: req.ExternalOrderId,
		Status:          req.Status,
		BrandID:         errs.OptionalUUID("brandId", req.BrandId),
		CampaignID:      errs.OptionalUUID("campaignId", req.CampaignId),
		PlacedFrom:      instant("placedFrom", req.GetPlacedFrom(), errs),
		PlacedBefore:    instant("placedBefore", req.GetPlacedBefore(), errs),
		After:           page.After(req.After, binding, errs),
		Limit:           page.Limit(req.Limit, errs),
	}
}

func searchBinding(req *ordersv1.SearchOrdersRequest) page.Binding {
	return page.Bind("order search", page.Part(req.TenantId), page.Part(req.Reference), page.Part(req.ExternalOrderId),
		strconv.Itoa(int(req.GetStatus())), page.Part(req.BrandId), page.Part(req.CampaignId),
		instantPart(req.GetPlacedFrom()), instantPart(req.GetPlacedBefore()))
}

func instantPart(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return at.AsTime().Format(time.RFC3339Nano)
}

func instant(field string, at *timestamppb.Timestamp, errs *fields.Errors) *time.Time {
	if at == nil {
		return nil
	}
	if err := at.CheckValid(); err != nil {
		errs.Add(field, problem.FieldInvalid, "must be an instant between the years 1 and 9999")
		return nil
	}
	t := at.AsTime()
	return &t
}
