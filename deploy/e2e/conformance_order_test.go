package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// placeAs has a person place an order and gives it as a key reads it.
func (s *shop) placeAs(t *testing.T, actor *commonv1.Actor) map[string]any {
	t.Helper()
	return s.read(t, "/orders/"+s.placedBy(t, actor))
}

// placedBy has a person place an order for the demo's gift and gives its id.
func (s *shop) placedBy(t *testing.T, actor *commonv1.Actor) string {
	t.Helper()
	product := s.env["GIFTING_PRODUCT_ID"]
	placed, err := s.orderOperations(t).PlaceOrderAs(t.Context(), &ordersv1.PlaceOrderAsRequest{
		Actor: actor, TenantId: s.tenant, OrderId: uuid.NewString(), Order: &ordersv1.PlaceOrderRequest{
			BrandId: &s.brand, Items: []*ordersv1.OrderItemInput{{ProductId: &product}}, Client: &ordersv1.OrderClient{Name: markedName},
			Recipient: &ordersv1.OrderRecipient{Name: markedName, Phone: markedPhone, Address: &ordersv1.OrderAddress{
				Street: markedStreet, City: "Dublin", Country: "IE",
			}},
		},
	})
	require.NoError(t, err)
	return placed.GetOrder().GetId()
}

// dispatch has the operator send the order.
func (s *shop) dispatch(t *testing.T, orderID string) map[string]any {
	t.Helper()
	_, err := s.orderOperations(t).DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: clerk, TenantId: s.tenant, OrderId: orderID,
		Shipment: &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://carrier.example/T-1"},
	})
	require.NoError(t, err)
	return s.read(t, "/orders/"+orderID)
}

// cancel cancels the record at the path and gives it.
func (s *shop) cancel(t *testing.T, path string) map[string]any {
	t.Helper()
	a := s.post(t, s.key, path+":cancel", `{"reason": "Another reward."}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	return a.object(t)
}

func (p *platform) promisesOfOrders(t *testing.T) {
	s := p.newShop(t, false)
	gift := p.putGift(t, "S", "M")
	campaign := s.campaign(t, 50, gift)
	plain := s.place(t)
	full := s.place(t, ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small()), with("externalRecipientId", "player-1"),
		with("externalCampaignRef", "summer"), with("externalActionRef", "bonus"), with("urgent", true), with("externalOrderId", "mine"))
	asked := s.place(t, custom("99.5", "SEK"))
	link := s.claimed(t, with("recipients.0.externalRecipientId", "player-9"))
	claimed := s.read(t, "/orders/"+link["orderId"].(string))
	team, operator := s.placeAs(t, s.member), s.placeAs(t, clerk)

	for _, c := range []struct {
		promise, name string
		order         map[string]any
		want          any
	}{
		{"the source is API for an order of a key", "source", plain, "API"},
		{"the source is PERSONAL_LINK for the order of a claim", "source", claimed, "PERSONAL_LINK"},
		{"the source is WORKSPACE for an order of the tenant's team", "source", team, "WORKSPACE"},
		{"the source is BACKOFFICE for an order of the operator", "source", operator, "BACKOFFICE"},
		{"brandId is the brand the gift is sent under", "brandId", full, s.brand},
		{"personalLinkId is the link whose claim placed the order", "personalLinkId", claimed, link["id"]},
		{"urgent is as ordered", "urgent", full, true},
		{"the item of a gift has kind CATALOG, its id, its name and the chosen variations", "items", full, []any{map[string]any{
			"kind": "CATALOG", "productId": gift.GetId(), "productName": "Umbrella", "variations": map[string]any{"Size": "S"},
		}}},
		{"the item of a request has kind CUSTOM, no id and the text of the request", "items", asked, []any{map[string]any{
			"kind": "CUSTOM", "productId": nil, "productName": "A signed jersey", "variations": map[string]any{},
		}}},
	} {
		t.Run(c.promise, func(t *testing.T) { require.Equal(t, c.want, c.order[c.name]) })
	}
	s.promisesAboutNulls(t, "externalOrderId is the caller's, and null for an order that came another way", "externalOrderId",
		map[string]any{"mine": full}, claimed, team, operator)
	s.promisesAboutNulls(t, "externalRecipientId is that of the order or of the link it was claimed from", "externalRecipientId",
		map[string]any{"player-1": full, "player-9": claimed}, plain)
	s.promisesAboutNulls(t, "externalCampaignRef is the caller's, and null without one and for a claim", "externalCampaignRef",
		map[string]any{"summer": full}, plain, claimed, team, operator)
	s.promisesAboutNulls(t, "externalActionRef is the caller's, and null without one and for a claim", "externalActionRef",
		map[string]any{"bonus": full}, plain, claimed, team, operator)
	s.promisesAboutNulls(t, "campaignId is set for a campaign's order and null for any other", "campaignId",
		map[string]any{campaign.GetId(): full}, plain, asked, claimed)
	s.promisesAboutNulls(t, "selection is CATALOG for the order of a catalog link and null for any other", "selection",
		map[string]any{"CATALOG": claimed}, plain, full, team)
	all := []map[string]any{plain, full, asked, claimed, team, operator}
	s.promisesOfEveryOrder(t, full, team, all)
	t.Run("the version is 0 at first and grows with every change", func(t *testing.T) {
		require.InDelta(t, 0, plain["version"], 0)
		require.InDelta(t, 1, s.cancel(t, "/orders/"+idOf(plain))["version"], 0)
	})
	t.Run("cancellationReason is null unless the order is cancelled", func(t *testing.T) {
		require.Contains(t, plain, "cancellationReason")
		require.Nil(t, plain["cancellationReason"])
		require.Equal(t, "Another reward.", s.read(t, "/orders/"+idOf(plain))["cancellationReason"])
	})
	sent := s.dispatch(t, idOf(full))
	t.Run("there is no shipment before the dispatch and at most one after it", func(t *testing.T) {
		require.Equal(t, []any{}, full["shipments"])
		require.Len(t, sent["shipments"], 1)
	})
	t.Run("a shipment has carrier, reference and address of the tracking", func(t *testing.T) {
		require.Equal(t, []any{map[string]any{
			"carrier": "Post", "trackingReference": "T-1", "trackingUrl": "https://carrier.example/T-1",
		}}, sent["shipments"])
	})
	s.promisesOfAuthors(t, idOf(full))
}

// promisesOfEveryOrder is of what all orders have, of which full goes to Sweden and team to Ireland.
func (s *shop) promisesOfEveryOrder(t *testing.T, full, team map[string]any, all []map[string]any) {
	t.Run("the id is a UUID", func(t *testing.T) {
		for _, order := range all {
			require.NoError(t, uuid.Validate(idOf(order)))
		}
	})
	t.Run("the reference can be read aloud", func(t *testing.T) {
		for _, order := range all {
			require.Regexp(t, `^G-[0-9A-Z]{5}-[0-9A-Z]{5}$`, order["reference"])
		}
	})
	t.Run("an order has exactly one item", func(t *testing.T) {
		for _, order := range all {
			require.Len(t, order["items"], 1)
		}
	})
	t.Run("deliveryCountry is the only part of the address that an order carries", func(t *testing.T) {
		require.Equal(t, "SE", full["deliveryCountry"])
		require.Equal(t, "IE", team["deliveryCountry"])
		raw := s.get(t, s.key, "/orders?limit=100").body
		for _, part := range []string{"Visby", "621 57", "Dublin", markedStreet} {
			require.NotContains(t, raw, part)
		}
	})
	for promise, name := range map[string]string{
		"createdAt is UTC with at most six decimals": "createdAt", "updatedAt is UTC with at most six decimals": "updatedAt",
	} {
		t.Run(promise, func(t *testing.T) {
			for _, order := range all {
				require.Regexp(t, instant, order[name])
			}
		})
	}
}

// promisesAboutNulls holds the member of each order to the value it stands under, and to null in the others.
func (s *shop) promisesAboutNulls(t *testing.T, promise, name string, set map[string]any, others ...map[string]any) {
	t.Helper()
	t.Run(promise, func(t *testing.T) {
		for want, order := range set {
			require.Equal(t, want, order.(map[string]any)[name])
		}
		for _, order := range others {
			require.Contains(t, order, name)
			require.Nil(t, order[name])
		}
	})
}
