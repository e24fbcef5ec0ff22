package rules

import (
	"slices"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// No service has a list of the clients of a tenant, so the id of a client cannot be verified. What an order has is the client who
// wrote first: no other client takes part in its conversation.

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
