package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// PostOrderMessage posts a message as the key (API specification, POST /orders/{orderId}/messages).
func (s *Server) PostOrderMessage(
	ctx context.Context, req *ordersv1.PostOrderMessageRequest,
) (*ordersv1.PostOrderMessageResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckMessageBody(req.GetBody(), errs)
	message := rules.NewMessage(&ordersv1.MessageAuthor{
		Kind: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_API_KEY, Name: p.KeyName,
	}, strconv.Itoa(int(p.KeyID)), req.GetBody())
	action := store.Action[*ordersv1.PostOrderMessageResponse]{
		Answer: func(*ordersv1.Order) *ordersv1.PostOrderMessageResponse {
			return &ordersv1.PostOrderMessageResponse{Id: message.Record.GetId()}
		},
	}
	return changeAsKey(ctx, s, p, req.GetOrderId(), action.WithMessage(s.Store, message, errs.Err, s.now))
}

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
	brandID, messages, err := s.Store.Messages(ctx, p.TenantID, id, false)
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
