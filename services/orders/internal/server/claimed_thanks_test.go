package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func thanks(text string) *ordersv1.ThankForClaimedOrderRequest {
	return &ordersv1.ThankForClaimedOrderRequest{OrderId: claimedID, TenantId: tenantID, PersonalLinkId: linkID, Text: text}
}

func TestAPlayerThanksOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeClaimed(t)
	require.True(t, f.claimed(t).GetAcceptsThanks())
	_, err := f.ThankForClaimedOrder(t.Context(), thanks("Marked thanks"))
	require.NoError(t, err)

	got := f.messages(t, claimedID)
	require.Len(t, got, 1)
	require.Equal(t, "Marked thanks", got[0].GetBody())
	require.Equal(t, ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_SYSTEM, got[0].GetAuthor().GetKind())
	require.Equal(t, "Recipient", got[0].GetAuthor().GetName())
	require.Zero(t, f.count(t, "order_messages WHERE position('Marked'::bytea IN body_sealed) > 0"))
	e := f.lastEvent(t)
	require.Equal(t, "order.message_posted", e.kind)
	require.Zero(t, e.origin, "every key of the tenant gets the event")
	require.Contains(t, string(e.data), `"body":"Marked thanks"`)
	require.Zero(t, f.count(t, "outbox WHERE convert_from(data, 'UTF8') LIKE '%Marked%'"))
	require.Equal(t, order.GetVersion(), f.read(t, claimedID).GetVersion())
	audit := f.auditOf(t, claimedID)
	require.Len(t, audit, 1)
	require.Equal(t, ordersv1.Operation_OPERATION_POST_MESSAGE, audit[0].GetOperation())
	require.Equal(t, "Player", audit[0].GetActorId())
	shown := f.claimed(t)
	require.Equal(t, "Marked thanks", shown.GetThanks())
	require.False(t, shown.GetAcceptsThanks())

	t.Run("another text changes nothing", func(t *testing.T) {
		_, err := f.ThankForClaimedOrder(t.Context(), thanks("Of another tab"))
		require.NoError(t, err)
		require.Len(t, f.messages(t, claimedID), 1)
		require.Equal(t, []string{"order.created", "order.message_posted"}, f.eventsOf(t, claimedID))
	})
	t.Run("only with the recipient", func(t *testing.T) {
		got, err := f.GetClaimedOrder(t.Context(), seen())
		require.NoError(t, err)
		require.Empty(t, got.GetThanks())
		require.False(t, got.GetAcceptsThanks())
	})
}

func TestConcurrentThanksPostOneMessage(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeClaimed(t)
	problemtest.AtOnce(t, 8, func(i int) error {
		_, err := f.ThankForClaimedOrder(t.Context(), thanks(fmt.Sprint("Thanks ", i)))
		return err
	})
	require.Len(t, f.messages(t, claimedID), 1)
	require.Len(t, f.eventsOf(t, claimedID), 2)
	require.Len(t, f.auditOf(t, claimedID), 1)
}

func TestThanksAreRefused(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeClaimed(t)
	_, err := f.ThankForClaimedOrder(t.Context(), thanks("a\x07bell"))
	require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
	other := thanks("Thanks")
	other.PersonalLinkId = newID()
	_, err = f.ThankForClaimedOrder(t.Context(), other)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)

	f.dispatch(t, claimedID)
	f.deliver(t, claimedID)
	require.True(t, f.claimed(t).GetAcceptsThanks())
	f.clock = f.claimed(t).GetDeliveredAt().AsTime().AddDate(0, 1, 0)
	require.False(t, f.claimed(t).GetAcceptsThanks())
	_, err = f.ThankForClaimedOrder(t.Context(), thanks("Thanks"))
	require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	require.Empty(t, f.messages(t, claimedID))
}

func TestThanksAreErased(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeClaimed(t)
	_, err := f.ThankForClaimedOrder(t.Context(), thanks("Marked thanks"))
	require.NoError(t, err)
	f.dispatch(t, claimedID)
	f.deliver(t, claimedID)
	f.clock = f.clock.Add(time.Hour)
	require.NoError(t, f.eraseRecords(t, claimedID))
	require.Equal(t, "[erased]", f.messages(t, claimedID)[0].GetBody())
	require.Empty(t, f.claimed(t).GetThanks())
	require.False(t, f.claimed(t).GetAcceptsThanks())
}
