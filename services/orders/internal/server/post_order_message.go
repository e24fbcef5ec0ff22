package server

import (
	"context"
	"strconv"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
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
	errs := fields.FromContext(ctx)
	rules.CheckMessageBody(req.GetBody(), errs)
	message := rules.NewMessage(&ordersv1.MessageAuthor{
		Kind: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_API_KEY, Name: p.KeyName,
	}, strconv.Itoa(int(p.KeyID)), req.GetBody())
	action := store.Action[*ordersv1.PostOrderMessageResponse]{
		Answer: func(*ordersv1.Order) *ordersv1.PostOrderMessageResponse {
			return &ordersv1.PostOrderMessageResponse{Id: message.Record.GetId()}
		},
	}
	return changeAsKey(ctx, s, p, req.GetOrderId(), action.Posting(message, errs.Err, s.now))
}
