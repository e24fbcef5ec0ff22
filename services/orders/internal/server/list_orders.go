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
func positionOf(o *ordersv1.Order) cursor.Position {
	return cursor.Position{Time: o.GetCreatedAt().AsTime(), ID: o.GetId()}
}

func listBinding(p caller.Principal, req *ordersv1.ListOrdersRequest) cursor.Binding {
	since := ""
	if req.GetUpdatedSince() != nil {
		since = req.GetUpdatedSince().AsTime().Format(time.RFC3339Nano)
	}
	return cursor.Bind("orders", p.TenantID, page.Part(req.ExternalOrderId), page.Part(req.ExternalRecipientId),
		strconv.Itoa(int(req.GetStatus())), page.Part(req.BrandId), since)
}
