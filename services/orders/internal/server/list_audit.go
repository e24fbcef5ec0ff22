package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// ListAudit reads what was done to an order. Reading it is an entry too, the newest one.
func (o *Operations) ListAudit(ctx context.Context, req *ordersv1.ListAuditRequest) (*ordersv1.ListAuditResponse, error) {
	errs := fields.FromContext(ctx)
	binding := cursor.Bind("order audit", req.GetTenantId(), req.GetOrderId())
	limit, after := page.Limit(req.Limit, errs), page.After(req.After, binding, errs)
	a, err := o.admit(ctx, ordersv1.Operation_OPERATION_LIST_AUDIT, req, errs)
	if err != nil {
		return nil, err
	}
	if err := o.Orders.Store.AuditRead(ctx, a); err != nil {
		return nil, orderFault(err)
	}
	// One more than the page tells whether another follows.
	entries, err := o.Orders.Store.ListAudit(ctx, a.TenantID, a.OrderID, after, limit+1)
	if err != nil {
		return nil, err
	}
	resp := &ordersv1.ListAuditResponse{Entries: entries}
	if len(entries) > limit {
		resp.Entries = entries[:limit]
		last := entries[limit-1]
		next := binding.EncodePosition(cursor.Position{Time: last.GetAt().AsTime(), ID: last.GetId()})
		resp.NextCursor = &next
	}
	return resp, nil
}
