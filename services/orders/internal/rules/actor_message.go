package rules

import (
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// authorKinds are the kinds of the public API that the acting persons have.
var authorKinds = map[commonv1.ActorKind]ordersv1.MessageAuthorKind{
	commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT:     ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_TENANT_ACCOUNT,
	commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT:      ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_TENANT_CLIENT,
	commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_BACKOFFICE_ACCOUNT,
	commonv1.ActorKind_ACTOR_KIND_SYSTEM:             ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_SYSTEM,
}

// CheckAuthor finds the fault of an actor who signs a message with the own name.
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

// SameMessage says whether the message posted before is the one asked for again.
func SameMessage(posted, asked *Message) bool {
	return posted.Record.GetAuthor().GetKind() == asked.Record.GetAuthor().GetKind() &&
		posted.AuthorID == asked.AuthorID && posted.Internal == asked.Internal &&
		posted.Record.GetBody() == asked.Record.GetBody()
}
