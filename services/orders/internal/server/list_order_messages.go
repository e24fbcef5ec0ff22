package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// ListOrderMessages lists an order's messages without internal notes (API specification,
// GET /orders/{orderId}/messages).
func (s *Server) ListOrderMessages(
	ctx context.Context, req *ordersv1.ListOrderMessagesRequest,
) (*ordersv1.ListOrderMessagesResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := fields.ParseUUID(req.GetOrderId())
	if !ok {
		return nil, problem.RecordNotFound()
	}
	brandID, messages, err := s.store.Messages(ctx, p.TenantID, id, false, rules.MaxListedMessages)
	if errors.Is(err, store.ErrNotFound) || err == nil && !p.Reaches(brandID) {
		return nil, problem.RecordNotFound()
	}
	if err != nil {
		return nil, err
	}
	resp := &ordersv1.ListOrderMessagesResponse{}
	for _, m := range messages {
		resp.Messages = append(resp.Messages, m.Record)
	}
	return resp, nil
}
