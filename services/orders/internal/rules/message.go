package rules

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

var maxMessageBody = fields.MaxLength(&ordersv1.PostOrderMessageRequest{}, "body")

// The most messages of an order, and the most bytes of their texts together. A list returns all of them at once. The operator's
// notes are counted apart, under the same limits, so that the tenant does not notice them. With all of them an
// order fits into the export of a person, unless JSON has to escape much of the text.
const (
	maxMessages     = 10_000
	maxMessagesText = 3 << 20
)

// Posted counts the messages of an order, or its notes.
type Posted struct {
	Number, Bytes int
	// Last is the time of the last message or note, or zero.
	Last time.Time
}

// Message is a text on an order.
type Message struct {
	// Record is the part that every channel sees.
	Record *ordersv1.OrderMessage
	// AuthorID is the id of the key, or of the person in the caller's directory.
	AuthorID string
	// Internal hides the message from the tenant: a note of the service operator.
	Internal bool
}

// NewMessage makes a message that is not posted yet.
func NewMessage(author *ordersv1.MessageAuthor, authorID, body string) *Message {
	return &Message{
		Record:   &ordersv1.OrderMessage{Id: uuid.Must(uuid.NewV7()).String(), Author: author, Body: body},
		AuthorID: authorID,
	}
}

// CheckMessageBody finds the error of a message's text.
func CheckMessageBody(body string, errs *fields.Errors) {
	errs.RequiredText("body", body, maxMessageBody)
}

// Post adds the message to the order. The record does not change.
func (m *Message) Post(current *Current, before Posted, now time.Time) (*Change, error) {
	action := PostMessage
	if m.Internal {
		action = AddNote
	}
	step, err := current.admit(action)
	if err != nil {
		return nil, err
	}
	if before.Number >= maxMessages || before.Bytes+len(m.Record.GetBody()) > maxMessagesText {
		return nil, problem.New(problem.TooManyMessages, "The order has as many messages as it may have.")
	}
	posted := Later(now, before.Last)
	m.Record.CreatedAt = timestamppb.New(posted)
	return &Change{Event: Event{Type: step.Event, OccurredAt: posted, Data: &ordersv1.OrderMessagePosted{
		OrderId:         current.Record.GetId(),
		ExternalOrderId: current.Record.ExternalOrderId,
		Message:         m.Record,
	}}}, nil
}

// authorKinds maps the kinds of actors to those of the public API.
var authorKinds = map[commonv1.ActorKind]ordersv1.MessageAuthorKind{
	commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT:     ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_TENANT_ACCOUNT,
	commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT:      ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_TENANT_CLIENT,
	commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_BACKOFFICE_ACCOUNT,
	commonv1.ActorKind_ACTOR_KIND_SYSTEM:             ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_SYSTEM,
}

// CheckAuthor checks that an actor whose own name signs the message has a name.
func CheckAuthor(a *commonv1.Actor, errs *fields.Errors) {
	switch a.GetKind() {
	case commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT:
		if fields.Blank(a.GetName()) {
			errs.Add("actor.name", problem.FieldRequired, "is required: it signs the message")
		}
	default:
	}
}

// NewActorMessage makes a message under the id its author chose. The operator's team and the
// platform sign with the operator's name.
func NewActorMessage(id string, a *commonv1.Actor, operator, body string) *Message {
	author := &ordersv1.MessageAuthor{Kind: authorKinds[a.GetKind()], Name: a.GetName()}
	switch a.GetKind() {
	case commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_SYSTEM:
		author.Name = operator
	default:
	}
	m := NewMessage(author, a.GetId(), body)
	m.Record.Id = id
	return m
}

// SameMessage reports whether a request repeats the posted message.
func SameMessage(posted, asked *Message) bool {
	return posted.Record.GetAuthor().GetKind() == asked.Record.GetAuthor().GetKind() &&
		posted.AuthorID == asked.AuthorID && posted.Internal == asked.Internal &&
		posted.Record.GetBody() == asked.Record.GetBody()
}

// No service has a list of the clients of a tenant, so the id of a client cannot be verified. The first client who posts on an
// order is its client: no other client takes part in its conversation.

// ClientMayPost reports whether the actor may post on an order whose client is the given one, or empty. It is true for every actor
// who is not a client.
func ClientMayPost(a *commonv1.Actor, client string) bool {
	return a.GetKind() != commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT || client == "" || client == a.GetId()
}

// ClientMayRead reports whether the actor may read the messages of an order: a client must have posted one of them. It is true for
// every actor who is not a client.
func ClientMayRead(a *commonv1.Actor, messages []*Message) bool {
	return a.GetKind() != commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT || slices.ContainsFunc(messages, func(m *Message) bool {
		return m.Record.GetAuthor().GetKind() == ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_TENANT_CLIENT && m.AuthorID == a.GetId()
	})
}
