package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// GetOrder reads one order (API specification, GET /orders/{orderId}).
func (s *Server) GetOrder(ctx context.Context, req *ordersv1.GetOrderRequest) (*ordersv1.GetOrderResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := fields.ParseUUID(req.GetOrderId())
	if !ok {
		return nil, problem.RecordNotFound()
	}
	order, err := s.Store.Get(ctx, p.TenantID, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !p.Reaches(order.GetBrandId()) {
		return nil, problem.RecordNotFound()
	}
	if err != nil {
		return nil, err
	}
	return &ordersv1.GetOrderResponse{Order: order}, nil
}

// notFound translates the store's ErrNotFound.
func notFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return problem.RecordNotFound()
	}
	return err
}
