package server

import (
	"context"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/actor"
	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// SearchOrders finds orders by what is known of them.
func (o *Operations) SearchOrders(ctx context.Context, req *ordersv1.SearchOrdersRequest) (*ordersv1.SearchOrdersResponse, error) {
	errs := fields.FromContext(ctx)
	actor.Check(req.GetActor(), errs)
	binding := searchBinding(req)
	search := readSearch(req, binding, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	a := rules.Audit{TenantID: deref(search.TenantID), Actor: req.GetActor(), Operation: ordersv1.Operation_OPERATION_SEARCH}
	if err := o.permit(ctx, a); err != nil {
		return nil, err
	}
	if err := o.Orders.Store.AuditSearch(ctx, a); err != nil {
		return nil, err
	}
	// One more than the page tells whether another follows.
	search.Limit++
	found, err := o.Orders.Store.Search(ctx, search)
	if err != nil {
		return nil, err
	}
	return searchPage(found, search.Limit-1, binding), nil
}

func readSearch(req *ordersv1.SearchOrdersRequest, binding cursor.Binding, errs *fields.Errors) store.Search {
	const maxText = 128
	errs.MaxLen("reference", req.GetReference(), maxText)
	errs.MaxLen("externalOrderId", req.GetExternalOrderId(), maxText)
	if req.Status != nil && !slices.Contains(rules.Statuses(), req.GetStatus()) {
		errs.Add("status", problem.FieldInvalid, "must be a status of an order")
	}
	everywhere := req.GetActor().GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT &&
		(req.Reference != nil || req.Status != nil)
	if req.TenantId == nil && !everywhere {
		errs.Add("tenantId", problem.FieldRequired, "is required; for the operator only without reference and status")
	}
	return store.Search{
		TenantID:        optionalUUID(errs, "tenantId", req.TenantId),
		Reference:       req.Reference,
		ExternalOrderID: req.ExternalOrderId,
		Status:          req.Status,
		BrandID:         optionalUUID(errs, "brandId", req.BrandId),
		CampaignID:      optionalUUID(errs, "campaignId", req.CampaignId),
		PlacedFrom:      instant(errs, "placedFrom", req.GetPlacedFrom()),
		PlacedBefore:    instant(errs, "placedBefore", req.GetPlacedBefore()),
		After:           page.After(req.After, binding, errs),
		Limit:           page.Limit(req.Limit, errs),
	}
}

func searchPage(found []*ordersv1.FoundOrder, limit int, binding cursor.Binding) *ordersv1.SearchOrdersResponse {
	resp := &ordersv1.SearchOrdersResponse{Orders: found}
	if len(found) > limit {
		resp.Orders = found[:limit]
		last := found[limit-1].GetOrder()
		next := binding.EncodePosition(cursor.Position{Time: last.GetCreatedAt().AsTime(), ID: last.GetId()})
		resp.NextCursor = &next
	}
	return resp
}

func searchBinding(req *ordersv1.SearchOrdersRequest) cursor.Binding {
	return cursor.Bind("order search", page.Part(req.TenantId), page.Part(req.Reference), page.Part(req.ExternalOrderId),
		strconv.Itoa(int(req.GetStatus())), page.Part(req.BrandId), page.Part(req.CampaignId),
		instantPart(req.GetPlacedFrom()), instantPart(req.GetPlacedBefore()))
}

func instantPart(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return at.AsTime().Format(time.RFC3339Nano)
}

// optionalUUID gives the id in the spelling the database has.
func optionalUUID(errs *fields.Errors, field string, value *string) *string {
	if value == nil {
		return nil
	}
	id := errs.UUID(field, *value)
	return &id
}

func instant(errs *fields.Errors, field string, at *timestamppb.Timestamp) *time.Time {
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

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
