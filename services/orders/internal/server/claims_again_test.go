package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// claimAgain is a claim of the same link that has chosen another order id, as after a restore of the links.
func claimAgain() *ordersv1.PlaceClaimedOrderRequest {
	again := claim()
	again.OrderId, again.CampaignId = newID(), new(campaignID)
	return again
}

func TestALinkHasOneOrder(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	first, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
	require.NoError(t, err)
	require.Equal(t, 999, f.catalog.left())
	f.catalog.reserveError = problem.New(problem.OutOfStock, "none left")

	second := claimAgain()
	found, err := f.PlaceClaimedOrder(t.Context(), second)
	require.NoError(t, err, "although no stock is left")
	require.True(t, proto.Equal(first.GetOrder(), found.GetOrder()))
	require.Equal(t, 1, f.count(t, "orders"))
	require.Equal(t, []string{"order.created"}, f.eventsOf(t, first.GetOrder().GetId()))
	require.Equal(t, 1, f.count(t, "outbox"))
	require.Equal(t, 999, f.catalog.left())
	require.Equal(t, linkID, f.read(t, first.GetOrder().GetId()).GetPersonalLinkId())

	t.Run("even if the order was cancelled", func(t *testing.T) {
		id := first.GetOrder().GetId()
		_, err := f.CancelOrder(f.as(t, newID()), &ordersv1.CancelOrderRequest{OrderId: id, Reason: "No."})
		require.NoError(t, err)
		found, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
		require.NoError(t, err)
		require.Equal(t, id, found.GetOrder().GetId())
	})
	t.Run("and links of other tenants do not matter", func(t *testing.T) {
		other := claimAgain()
		other.TenantId, other.CampaignId = newID(), nil
		placed, err := f.PlaceClaimedOrder(t.Context(), other)
		require.NoError(t, err)
		require.Equal(t, other.GetOrderId(), placed.GetOrder().GetId())
	})
}

func TestAnAbandonedClaimFindsTheOrderOfItsLink(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	first, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
	require.NoError(t, err)

	second := claimAgain()
	abandon := &ordersv1.AbandonClaimedOrderRequest{OrderId: second.GetOrderId(), TenantId: tenantID, PersonalLinkId: linkID}
	for range 2 {
		found, err := f.AbandonClaimedOrder(t.Context(), abandon)
		require.NoError(t, err)
		require.True(t, proto.Equal(first.GetOrder(), found.GetOrder()))
	}
	found, err := f.PlaceClaimedOrder(t.Context(), second)
	require.NoError(t, err)
	require.Equal(t, first.GetOrder().GetId(), found.GetOrder().GetId())
	require.Equal(t, 1, f.count(t, "orders"))
}

// Every claim chooses its own id, and some are abandoned while they run. The constraint lets one order commit, and every other
// unit comes back.
func TestConcurrentClaimsOfALinkPlaceOneOrder(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	const claims = 8
	var placed [claims]*ordersv1.Order
	var group errgroup.Group
	for i := range claims {
		request := claimAgain()
		abandon := &ordersv1.AbandonClaimedOrderRequest{OrderId: request.GetOrderId(), TenantId: tenantID, PersonalLinkId: linkID}
		group.Go(func() error {
			resp, err := f.PlaceClaimedOrder(t.Context(), request)
			placed[i] = resp.GetOrder()
			return err
		})
		if i%2 == 0 {
			group.Go(func() error {
				_, err := f.AbandonClaimedOrder(t.Context(), abandon)
				return err
			})
		}
	}
	require.NoError(t, group.Wait())
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, 1, f.count(t, "orders"))
	require.Equal(t, 1, f.count(t, "outbox"))
	require.Equal(t, 999, f.catalog.left(), "one unit is taken")
	last, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
	require.NoError(t, err)
	for i, order := range placed {
		if i%2 != 0 || order != nil {
			require.True(t, proto.Equal(last.GetOrder(), order), "every claim gets the link's order")
		}
	}
}
