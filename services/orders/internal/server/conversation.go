package server

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// PostMessageAs posts a message for a person.
func (s *Server) PostMessageAs(ctx context.Context, req *ordersv1.PostMessageAsRequest) (*ordersv1.PostMessageAsResponse, error) {
	entry, err := s.post(ctx, ordersv1.Operation_OPERATION_POST_MESSAGE, req)
	return &ordersv1.PostMessageAsResponse{Entry: entry}, err
}

// AddInternalNote adds a note that only the operator reads.
func (s *Server) AddInternalNote(
	ctx context.Context, req *ordersv1.AddInternalNoteRequest,
) (*ordersv1.AddInternalNoteResponse, error) {
	entry, err := s.post(ctx, ordersv1.Operation_OPERATION_ADD_NOTE, req)
	return &ordersv1.AddInternalNoteResponse{Entry: entry}, err
}

// postRequest has the fields that requests for messages and for notes share.
type postRequest interface {
	operationRequest
	GetMessageId() string
	GetBody() string
}

func (s *Server) post(ctx context.Context, op ordersv1.Operation, req postRequest) (*ordersv1.ConversationEntry, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckAuthor(req.GetActor(), errs)
	id := errs.RequiredUUID("messageId", req.GetMessageId())
	rules.CheckMessageBody(req.GetBody(), errs)
	a, err := s.admit(ctx, op, req, errs)
	if err != nil {
		return nil, err
	}
	message := rules.NewActorMessage(id, req.GetActor(), s.OperatorName, req.GetBody())
	message.Internal = op == ordersv1.Operation_OPERATION_ADD_NOTE
	entry, err := changeOrder(ctx, s, a.OrderID, s.postOnce(a, message))
	if errors.Is(store.PostMessageError(err), store.ErrMessageIDTaken) {
		return nil, messageIDReused()
	}
	return entry, err
}

// postOnce posts the message unless it has been posted already.
func (s *Server) postOnce(a rules.Audit, message *rules.Message) store.Action[*ordersv1.ConversationEntry] {
	var posted *store.PostedMessage
	var client string
	action := store.Action[*ordersv1.ConversationEntry]{
		TenantID: a.TenantID,
	}.WithMessage(s.Store, message, func() error { return nil }, s.now)
	read, decide, also := action.ReadMore, action.Decide, action.WriteMore
	action.ReadMore = func(b *pgx.Batch, tenantID, orderID string) {
		s.Store.QueueFindMessage(b, tenantID, message.Record.GetId(), &posted)
		if a.Actor.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT {
			store.QueueFindClient(b, tenantID, orderID, &client)
		}
		read(b, tenantID, orderID)
	}
	action.Decide = func(current *rules.Current) (*rules.Change, error) {
		switch {
		case !rules.ClientMayPost(a.Actor, client):
			return nil, notFound(store.ErrNotFound)
		case posted == nil:
			return decide(current)
		case posted.OrderID == a.OrderID && rules.SameMessage(posted.Message, message):
			return &rules.Change{}, nil
		}
		return nil, messageIDReused()
	}
	action.WriteMore = func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
		if posted == nil {
			also(b, before, change)
		}
		store.QueueAudit(b, a, before.Record, before.Record)
	}
	action.Answer = func(*ordersv1.Order) *ordersv1.ConversationEntry {
		if posted != nil {
			return conversationEntry(posted.Message)
		}
		return conversationEntry(message)
	}
	return action
}

func messageIDReused() error {
	return problem.New(problem.IdempotencyKeyReused, "This messageId was used before for another message.")
}

func conversationEntry(m *rules.Message) *ordersv1.ConversationEntry {
	return &ordersv1.ConversationEntry{Message: m.Record, AuthorId: m.AuthorID, Internal: m.Internal}
}

// ListConversation lists an order's messages; for the operator, with its internal notes.
func (s *Server) ListConversation(
	ctx context.Context, req *ordersv1.ListConversationRequest,
) (*ordersv1.ListConversationResponse, error) {
	a, err := s.admit(ctx, ordersv1.Operation_OPERATION_LIST_CONVERSATION, req, caller.RequestErrors(ctx))
	if err != nil {
		return nil, err
	}
	withNotes := a.Actor.GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT
	_, messages, err := s.Store.Messages(ctx, a.TenantID, a.OrderID, withNotes)
	if err == nil && !rules.ClientMayRead(a.Actor, messages) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, notFound(err)
	}
	if err := s.Store.AuditRead(ctx, a); err != nil {
		return nil, notFound(err)
	}
	resp := &ordersv1.ListConversationResponse{}
	for _, m := range messages {
		resp.Entries = append(resp.Entries, conversationEntry(m))
	}
	return resp, nil
}
