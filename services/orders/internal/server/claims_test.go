package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	claimedID = "0198f2e4-0000-7000-8000-00000000000a"
	linkID    = "0198f2e4-0000-7000-8000-00000000000b"
	fieldID   = "0198f2e4-0000-7000-8000-00000000000c"
)

func claim() *ordersv1.PlaceClaimedOrderRequest {
	r := request("")
	return &ordersv1.PlaceClaimedOrderRequest{
		OrderId: claimedID, TenantId: tenantID, PersonalLinkId: linkID, BrandId: brandID,
		ExternalRecipientId: new("player-1"), Client: r.GetClient(), Recipient: r.GetRecipient(),
		ProductId: productID, Variations: map[string]string{"Size": "M"}, ManagerId: new(aManager),
		CustomFields: []*ordersv1.CustomFieldAnswer{{FieldId: fieldID, TextValue: new("Marked answer")}},
	}
}

func abandonment(orderID string) *ordersv1.AbandonClaimedOrderRequest {
	return &ordersv1.AbandonClaimedOrderRequest{OrderId: orderID, TenantId: tenantID, PersonalLinkId: linkID}
}

func (f *fixture) abandon(t *testing.T, orderID string) *ordersv1.Order {
	t.Helper()
	resp, err := f.AbandonClaimedOrder(t.Context(), abandonment(orderID))
	require.NoError(t, err)
	return resp.GetOrder()
}

func TestAClaimPlacesItsOrderOnce(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	resp, err := f.PlaceClaimedOrder(t.Context(), claim())
	require.NoError(t, err)
	order := resp.GetOrder()
	require.Equal(t, claimedID, order.GetId())
	require.Equal(t, processingStatus, order.GetStatus(), "even if approval is required")
	require.Zero(t, f.lastEvent(t).origin, "every key of the tenant gets the event")
	t.Run("a repetition returns the order", func(t *testing.T) {
		other := claim()
		other.Recipient, other.ProductId = nil, "other"
		again, err := f.PlaceClaimedOrder(t.Context(), other)
		require.NoError(t, err)
		require.True(t, proto.Equal(order, again.GetOrder()))
		require.Equal(t, 1, f.count(t, "outbox"))
	})
	t.Run("abandoning returns the order", func(t *testing.T) {
		require.True(t, proto.Equal(order, f.abandon(t, claimedID)))
		require.Empty(t, f.catalog.released)
	})
}

func TestAClaimOfACampaignHasNoSelection(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := claim()
	r.CampaignId = new(campaignID)
	resp, err := f.PlaceClaimedOrder(t.Context(), r)
	require.NoError(t, err)
	require.Nil(t, resp.GetOrder().Selection)
	require.Equal(t, campaignID, resp.GetOrder().GetCampaignId())
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, []string{claimedID}, f.catalog.confirmed)
}

func TestAnAbandonedClaimIsNeverPlaced(t *testing.T) {
	t.Parallel()
	for name, stocked := range map[string]bool{"with stock": true, "without stock": false} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.catalog.stocked = stocked
			for range 2 {
				require.Nil(t, f.abandon(t, claimedID))
			}
			resp, err := f.PlaceClaimedOrder(t.Context(), claim())
			require.NoError(t, err)
			require.Nil(t, resp.GetOrder())
			require.Zero(t, f.count(t, "orders"))
			require.Zero(t, f.count(t, "outbox"))
		})
	}
}

func TestAClaimIsPlacedOrAbandonedNeverBoth(t *testing.T) {
	t.Parallel()
	for range 5 {
		f := setupWithoutTwins(t)
		var placed, kept [4]*ordersv1.Order
		problemtest.AtOnce(t, 2*len(placed), func(i int) error {
			if i%2 == 0 {
				resp, err := f.AbandonClaimedOrder(t.Context(), abandonment(claimedID))
				kept[i/2] = resp.GetOrder()
				return err
			}
			resp, err := f.PlaceClaimedOrder(t.Context(), claim())
			placed[i/2] = resp.GetOrder()
			return err
		})
		n := f.count(t, "orders")
		for i := range placed {
			require.Equal(t, n == 1, placed[i] != nil)
			require.True(t, n == 1 || kept[i] == nil)
		}
		require.Equal(t, n == 1, f.abandon(t, claimedID) != nil)
	}
}

func TestAClaimIsRefused(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.stocked = true
	t.Run("for the errors of its recipient", func(t *testing.T) {
		r := claim()
		r.Recipient.Phone, r.Recipient.Address.City, r.CourierComment = "070", " ", new(strings.Repeat("å", 501))
		r.Customization = &ordersv1.OrderCustomization{Details: strings.Repeat("å", 2001)}
		_, err := f.PlaceClaimedOrder(t.Context(), r)
		require.Equal(t, []string{
			"recipient.phone invalid", "recipient.address.city required", "courierComment too_long", "customization.details too_long",
		}, violationsOf(t, err))
	})
	t.Run("without stock, and is placed later", func(t *testing.T) {
		f.catalog.reserveError = problem.New(problem.OutOfStock, "none")
		_, err := f.PlaceClaimedOrder(t.Context(), claim())
		require.True(t, problem.Is(err, problem.OutOfStock))
		f.catalog.reserveError = nil
		resp, err := f.PlaceClaimedOrder(t.Context(), claim())
		require.NoError(t, err)
		require.NotNil(t, resp.GetOrder())
	})
	t.Run("for an invalid id", func(t *testing.T) {
		r := claim()
		r.OrderId = "1"
		_, err := f.PlaceClaimedOrder(t.Context(), r)
		require.True(t, problem.Is(err, problem.InvalidRequest))
	})
}

// claimAgain is a claim of the same link that has chosen another order id, as after a restore of the links.
func claimAgain() *ordersv1.PlaceClaimedOrderRequest {
	again := claim()
	again.OrderId, again.CampaignId = newID(), new(campaignID)
	return again
}

func TestALinkHasOneOrder(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	first, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
	require.NoError(t, err)
	require.Equal(t, 999, f.catalog.unitsLeft())
	f.catalog.reserveError = problem.New(problem.OutOfStock, "none left")

	found, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
	require.NoError(t, err, "although no stock is left")
	require.True(t, proto.Equal(first.GetOrder(), found.GetOrder()))
	require.Equal(t, 1, f.count(t, "orders"))
	require.Equal(t, 1, f.count(t, "outbox"))
	require.Equal(t, 999, f.catalog.unitsLeft())

	t.Run("even if the order was cancelled", func(t *testing.T) {
		id := first.GetOrder().GetId()
		_, err := f.CancelOrder(f.keyContext(t, newID()), &ordersv1.CancelOrderRequest{OrderId: id, Reason: "No."})
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
	f := setupWithoutTwins(t)
	first, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
	require.NoError(t, err)

	second := claimAgain()
	for range 2 {
		require.True(t, proto.Equal(first.GetOrder(), f.abandon(t, second.GetOrderId())))
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
	f := setupWithoutTwins(t)
	const claims = 8
	var requests [claims]*ordersv1.PlaceClaimedOrderRequest
	var placed [claims]*ordersv1.Order
	for i := range requests {
		requests[i] = claimAgain()
	}
	problemtest.AtOnce(t, 3*claims/2, func(i int) error {
		if i >= claims {
			_, err := f.AbandonClaimedOrder(t.Context(), abandonment(requests[2*(i-claims)].GetOrderId()))
			return err
		}
		resp, err := f.PlaceClaimedOrder(t.Context(), requests[i])
		placed[i] = resp.GetOrder()
		return err
	})
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, 1, f.count(t, "orders"))
	require.Equal(t, 1, f.count(t, "outbox"))
	require.Equal(t, 999, f.catalog.unitsLeft(), "one unit is taken")
	last, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
	require.NoError(t, err)
	for i, order := range placed {
		if i%2 != 0 || order != nil {
			require.True(t, proto.Equal(last.GetOrder(), order), "every claim gets the link's order")
		}
	}
}
