package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func message(a *commonv1.Actor, orderID, body string) *ordersv1.PostMessageAsRequest {
	return &ordersv1.PostMessageAsRequest{Actor: a, TenantId: tenantID, OrderId: orderID, MessageId: newID(), Body: body}
}

func TestOnlyTheOperatorReadsAndWritesNotes(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeInStatus(t, requestedStatus)
	_, err := f.PostMessageAs(t.Context(), message(aClient(), order.GetId(), "hello"))
	require.NoError(t, err)
	require.Zero(t, f.lastEvent(t).origin, "every key of the tenant gets the event")
	events := len(f.eventsOf(t, order.GetId()))
	note := &ordersv1.AddInternalNoteRequest{
		Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), MessageId: newID(), Body: "difficult",
	}
	_, err = f.AddInternalNote(t.Context(), note)
	require.NoError(t, err)
	require.Len(t, f.eventsOf(t, order.GetId()), events)

	bodies := func(a *commonv1.Actor) (out []string) {
		resp, err := f.ListConversation(t.Context(),
			&ordersv1.ListConversationRequest{Actor: a, TenantId: tenantID, OrderId: order.GetId()})
		require.NoError(t, err)
		for _, e := range resp.GetEntries() {
			out = append(out, e.GetMessage().GetBody())
		}
		return out
	}
	require.Equal(t, []string{"hello", "difficult"}, bodies(operator()))
	require.Equal(t, []string{"hello"}, bodies(person(anAdministrator)))
	require.Equal(t, []string{"hello"}, bodies(aClient()))
	require.Len(t, f.messages(t, order.GetId()), 1)
	note.Actor = person(anAdministrator)
	_, err = f.AddInternalNote(t.Context(), note)
	require.True(t, problem.Is(err, problem.InsufficientScope))
}

func TestAMessageIDIsUsedOnce(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order, other := f.placeInStatus(t, requestedStatus), f.placeInStatus(t, requestedStatus)
	req := message(person(aMember), order.GetId(), "hello")
	first, err := f.PostMessageAs(t.Context(), req)
	require.NoError(t, err)

	again, err := f.PostMessageAs(t.Context(), req)
	require.NoError(t, err)
	require.True(t, proto.Equal(first, again))
	require.Equal(t, []string{"order.created", posted}, f.eventsOf(t, order.GetId()))

	for name, change := range map[string]func(r *ordersv1.PostMessageAsRequest){
		"another text":   func(r *ordersv1.PostMessageAsRequest) { r.Body = "goodbye" },
		"another author": func(r *ordersv1.PostMessageAsRequest) { r.Actor = person(aCoordinator) },
		"another order":  func(r *ordersv1.PostMessageAsRequest) { r.OrderId = other.GetId() },
	} {
		t.Run(name, func(t *testing.T) {
			r := proto.CloneOf(req)
			change(r)
			_, err := f.PostMessageAs(t.Context(), r)
			require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
		})
	}
	t.Run("also with many concurrent calls on two orders", func(t *testing.T) {
		id := newID()
		problemtest.AtOnce(t, 12, func(i int) error {
			r := message(operator(), []string{order.GetId(), other.GetId()}[i%2], "at once")
			r.MessageId = id
			_, err := f.PostMessageAs(t.Context(), r)
			return err
		}, problem.IdempotencyKeyReused)
		require.Equal(t, 1, f.count(t, "outbox WHERE convert_from(data, 'UTF8') LIKE '%"+id+"%'"))
	})
}

func TestAMessageNeedsATextAndAName(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeInStatus(t, requestedStatus)
	req := message(&commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "c"}, order.GetId(), " ")
	req.MessageId = ""
	_, err := f.PostMessageAs(t.Context(), req)
	require.Equal(t, []string{"actor.name required", "messageId required", "body required"}, violationsOf(t, err))
}
