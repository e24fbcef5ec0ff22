package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
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

func TestAClaimPlacesItsOrderOnce(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	resp, err := f.PlaceClaimedOrder(t.Context(), claim())
	require.NoError(t, err)
	order := resp.GetOrder()
	require.Equal(t, claimedID, order.GetId())
	require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_PROCESSING, order.GetStatus(), "even if approval is required")
	require.Equal(t, ordersv1.OrderSource_ORDER_SOURCE_PERSONAL_LINK, order.GetSource())
	require.Equal(t, ordersv1.OrderSelection_ORDER_SELECTION_CATALOG, order.GetSelection())
	require.Equal(t, linkID, order.GetPersonalLinkId())
	require.Equal(t, "player-1", order.GetExternalRecipientId())
	require.Nil(t, order.ExternalOrderId)
	require.NotEmpty(t, order.GetReference())

	t.Run("a key reads the same record", func(t *testing.T) {
		require.True(t, proto.Equal(order, f.read(t, claimedID)))
	})
	t.Run("its event has no key as its origin", func(t *testing.T) {
		e := f.lastEvent(t)
		require.Equal(t, "order.created", e.kind)
		require.Zero(t, e.origin)
		require.Equal(t, linkID, e.data["personalLinkId"])
	})
	t.Run("a repetition returns the order", func(t *testing.T) {
		other := claim()
		other.Recipient, other.ProductId = nil, "other"
		again, err := f.PlaceClaimedOrder(t.Context(), other)
		require.NoError(t, err)
		require.True(t, proto.Equal(order, again.GetOrder()))
		require.Equal(t, 1, f.count(t, "outbox"))
	})
	t.Run("abandoning returns the order", func(t *testing.T) {
		got, err := f.AbandonClaimedOrder(t.Context(),
			&ordersv1.AbandonClaimedOrderRequest{OrderId: claimedID, TenantId: tenantID, PersonalLinkId: linkID})
		require.NoError(t, err)
		require.True(t, proto.Equal(order, got.GetOrder()))
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
			abandon := &ordersv1.AbandonClaimedOrderRequest{OrderId: claimedID, TenantId: tenantID, PersonalLinkId: linkID}
			for range 2 {
				got, err := f.AbandonClaimedOrder(t.Context(), abandon)
				require.NoError(t, err)
				require.Nil(t, got.GetOrder())
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
		var group errgroup.Group
		for i := range placed {
			group.Go(func() error {
				resp, err := f.PlaceClaimedOrder(t.Context(), claim())
				placed[i] = resp.GetOrder()
				return err
			})
			group.Go(func() error {
				resp, err := f.AbandonClaimedOrder(t.Context(),
					&ordersv1.AbandonClaimedOrderRequest{OrderId: claimedID, TenantId: tenantID, PersonalLinkId: linkID})
				kept[i] = resp.GetOrder()
				return err
			})
		}
		require.NoError(t, group.Wait())
		n := f.count(t, "orders")
		for i := range placed {
			require.Equal(t, n == 1, placed[i] != nil)
			if kept[i] != nil {
				require.Equal(t, 1, n)
			}
		}
		last, err := f.AbandonClaimedOrder(t.Context(),
			&ordersv1.AbandonClaimedOrderRequest{OrderId: claimedID, TenantId: tenantID, PersonalLinkId: linkID})
		require.NoError(t, err)
		require.Equal(t, n == 1, last.GetOrder() != nil)
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
		p, ok := problem.As(err)
		require.True(t, ok)
		require.Equal(t, problem.InvalidRequest, p.Code)
		require.Len(t, p.Violations, 4)
		require.Equal(t, "recipient.phone", p.Violations[0].Field)
		require.Equal(t, "recipient.address.city", p.Violations[1].Field)
		require.Equal(t, "courierComment", p.Violations[2].Field)
		require.Equal(t, "customization.details", p.Violations[3].Field)
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

	second := claimAgain()
	found, err := f.PlaceClaimedOrder(t.Context(), second)
	require.NoError(t, err, "although no stock is left")
	require.True(t, proto.Equal(first.GetOrder(), found.GetOrder()))
	require.Equal(t, 1, f.count(t, "orders"))
	require.Equal(t, []string{"order.created"}, f.eventsOf(t, first.GetOrder().GetId()))
	require.Equal(t, 1, f.count(t, "outbox"))
	require.Equal(t, 999, f.catalog.unitsLeft())
	require.Equal(t, linkID, f.read(t, first.GetOrder().GetId()).GetPersonalLinkId())

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
	f := setupWithoutTwins(t)
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
	require.Equal(t, 999, f.catalog.unitsLeft(), "one unit is taken")
	last, err := f.PlaceClaimedOrder(t.Context(), claimAgain())
	require.NoError(t, err)
	for i, order := range placed {
		if i%2 != 0 || order != nil {
			require.True(t, proto.Equal(last.GetOrder(), order), "every claim gets the link's order")
		}
	}
}
