package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// ListConversation lists an order's messages; the operator reads its notes among them.
func (s *Server) ListConversation(
	ctx context.Context, req *ordersv1.ListConversationRequest,
) (*ordersv1.ListConversationResponse, error) {
	a, err := s.admit(ctx, ordersv1.Operation_OPERATION_LIST_CONVERSATION, req, fields.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	if err := s.store.AuditRead(ctx, a); err != nil {
		return nil, notFound(err)
	}
	withNotes := a.Actor.GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT
	_, messages, err := s.store.Messages(ctx, a.TenantID, a.OrderID, withNotes, rules.MaxListedMessages)
	if err != nil {
		return nil, notFound(err)
	}
	resp := &ordersv1.ListConversationResponse{}
	for _, m := range messages {
		resp.Entries = append(resp.Entries, conversationEntry(m))
	}
	return resp, nil
}
