package server

import (
	"context"
	"strconv"
	"time"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// ListOrders lists the orders the key reaches (API specification, GET /orders).
func (s *Server) ListOrders(ctx context.Context, req *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := fields.FromContext(ctx)
	binding := listBinding(p, req)
	filter := store.Filter{
		TenantID:            p.TenantID,
		AllBrands:           p.AllBrands,
		BrandIDs:            p.BrandIDs,
		ExternalOrderID:     req.ExternalOrderId,
		ExternalRecipientID: req.ExternalRecipientId,
		Status:              req.Status,
		BrandID:             req.BrandId,
		Limit:               page.Limit(req.Limit, errs),
	}
	if req.BrandId != nil {
		*filter.BrandID = errs.UUID("brandId", req.GetBrandId())
	}
	filter.After = page.After(req.After, binding, errs)
	if req.GetUpdatedSince() != nil {
		since := req.GetUpdatedSince().AsTime()
		filter.UpdatedSince = &since
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	// One more than the page tells whether another follows.
	filter.Limit++
	orders, err := s.Store.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	return listPage(orders, filter.Limit-1, binding), nil
}

func listPage(orders []*ordersv1.Order, limit int, binding cursor.Binding) *ordersv1.ListOrdersResponse {
	resp := &ordersv1.ListOrdersResponse{Items: orders}
	if len(orders) > limit {
		resp.Items = orders[:limit]
		last := orders[limit-1]
		next := binding.EncodePosition(cursor.Position{Time: last.GetCreatedAt().AsTime(), ID: last.GetId()})
		resp.NextCursor = &next
	}
	return resp
}

func listBinding(p caller.Principal, req *ordersv1.ListOrdersRequest) cursor.Binding {
	since := ""
	if req.GetUpdatedSince() != nil {
		since = req.GetUpdatedSince().AsTime().Format(time.RFC3339Nano)
	}
	return cursor.Bind("orders", p.TenantID, page.Part(req.ExternalOrderId), page.Part(req.ExternalRecipientId),
		strconv.Itoa(int(req.GetStatus())), page.Part(req.BrandId), since)
}
