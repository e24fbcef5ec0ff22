package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// ListAudit reads what was done to an order. Each reading is itself an entry, the newest one.
func (s *Server) ListAudit(ctx context.Context, req *ordersv1.ListAuditRequest) (*ordersv1.ListAuditResponse, error) {
	errs := fields.FromContext(ctx)
	binding := cursor.Bind("order audit", req.GetTenantId(), req.GetOrderId())
	limit, after := page.Limit(req.Limit, errs), page.After(req.After, binding, errs)
	a, err := s.admit(ctx, ordersv1.Operation_OPERATION_LIST_AUDIT, req, errs)
	if err != nil {
		return nil, err
	}
	if err := s.store.AuditRead(ctx, a); err != nil {
		return nil, notFound(err)
	}
	entries, err := s.store.ListAudit(ctx, a.TenantID, a.OrderID, after, limit+1)
	if err != nil {
		return nil, err
	}
	items, next := page.Cut(entries, limit, binding, func(last *ordersv1.AuditEntry) cursor.Position {
		return cursor.Position{Time: last.GetAt().AsTime(), ID: last.GetId()}
	})
	return &ordersv1.ListAuditResponse{Entries: items, NextCursor: next}, nil
}
