package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// promisesOfItems is of what an order can ask for.
func (s *shop) promisesOfItems(t *testing.T) {
	const refused = http.StatusUnprocessableEntity
	gift := s.richGift(t)
	s.putProduct(t, gift)
	chosen := map[string]any{"Size": "M", "Colour": "Red"}
	t.Run("items is required and has exactly one element", func(t *testing.T) {
		item := map[string]any{"productId": gift.GetId(), "variations": chosen}
		s.refuse(t, s.body(t, without("items")), "items required")
		s.refuse(t, s.body(t, with("items", []any{})), "items required")
		s.refuse(t, s.body(t, with("items", []any{item, item})), "items invalid")
	})
	t.Run("a gift is ordered by its id and its variations", func(t *testing.T) {
		item, _ := s.place(t, ofGift(gift.GetId(), chosen))["items"].([]any)[0].(map[string]any)
		require.Equal(t, []any{gift.GetId(), chosen}, []any{item["productId"], item["variations"]})
	})
	t.Run("every dimension of the gift has one value, spelled as in the catalog", func(t *testing.T) {
		for _, wrong := range []map[string]any{
			{},
			{"Size": "M"},
			{"Size": "XXL", "Colour": "Red"},
			{"Size": "m", "Colour": "Red"},
			{"size": "M", "Colour": "Red"},
			{"Size": "M", "Colour": "Red", "Length": "1"},
		} {
			s.refuseAs(t, refused, "invalid_variations", ofGift(gift.GetId(), wrong))
		}
	})
	t.Run("customization is for gifts that allow it", func(t *testing.T) {
		order := s.place(t, ofGift(gift.GetId(), chosen), with("customization", map[string]any{"details": "A. B."}))
		require.Equal(t, "A. B.", s.file(t, order).GetDetails().GetCustomization())
		plain := s.putGift(t, "S")
		s.refuse(t, s.body(t, ofGift(plain.GetId(), small()), with("customization", map[string]any{"details": "A. B."})), "customization invalid")
	})
	t.Run("a custom request is not combined with productId", func(t *testing.T) {
		both := with("items.0.productId", gift.GetId())
		s.refuse(t, s.body(t, custom("1.00", "SEK"), both), "items[0].productId invalid")
	})
	t.Run("the amount is positive", func(t *testing.T) { s.promiseOfAmounts(t, []any{0.01, "0.01"}, []any{0, "0.00", -1, "-0.01"}) })
	t.Run("the amount is below 10000000000", func(t *testing.T) {
		s.promiseOfAmounts(t, []any{"9999999999.99"}, []any{10000000000, "10000000000.00"})
	})
	t.Run("the amount has at most two decimals", func(t *testing.T) { s.promiseOfAmounts(t, []any{7, 7.5, "7.25"}, []any{"7.255", 0.001}) })
	t.Run("the currency is the tenant's, and another is refused by name of the expected one", func(t *testing.T) {
		problem := s.refuseAs(t, http.StatusBadRequest, "invalid_request", custom("1.00", "EUR"))
		require.Equal(t, []string{"items[0].budget.currency invalid"}, faults(t, problem))
		require.Contains(t, problem["errors"].([]any)[0].(map[string]any)["message"], "SEK")
	})
	t.Run("a country that the gift cannot go to is not_deliverable_to_country", func(t *testing.T) {
		s.refuseAs(t, refused, "not_deliverable_to_country", ofGift(gift.GetId(), chosen), with("recipient.address.country", "IE"))
	})
	t.Run("a gift that is not published or internal is product_not_available", func(t *testing.T) {
		gone := s.putGift(t, "S")
		for _, state := range unpublished() {
			gone.State = state
			s.putProduct(t, gone)
			s.refuseAs(t, refused, "product_not_available", ofGift(gone.GetId(), small()))
		}
		s.refuseAs(t, refused, "product_not_available", ofGift(uuid.NewString(), small()))
	})
	t.Run("a gift that the campaign does not offer is product_not_in_campaign", func(t *testing.T) {
		campaign := s.campaign(t, -1, s.putGift(t, "S"))
		s.refuseAs(t, refused, "product_not_in_campaign", ofCampaign(campaign.GetId()), ofGift(gift.GetId(), chosen))
	})
}

// promiseOfAmounts orders within each budget.
func (s *shop) promiseOfAmounts(t *testing.T, good, bad []any) {
	t.Helper()
	for _, amount := range good {
		s.place(t, custom(amount, "SEK"))
	}
	for _, amount := range bad {
		s.refuse(t, s.body(t, custom(amount, "SEK")), "items[0].budget.amount invalid")
	}
}

// promisesOfDefaults is of what an order need not say.
func (s *shop) promisesOfDefaults(t *testing.T) {
	bare, full := s.place(t), s.place(t, with("urgent", true), with("afterHoursServiceAccepted", true), with("brandedPackagingRequested", true),
		with("courierComment", "Ring twice."), with("additionalDetails", "Gift wrap."))
	t.Run("urgent is false unless sent", func(t *testing.T) { require.Equal(t, []any{false, true}, []any{bare["urgent"], full["urgent"]}) })
	unsaid, said := s.file(t, bare).GetFulfilment(), s.file(t, full).GetFulfilment()
	for promise, get := range map[string]func(f *ordersv1.Fulfilment) bool{
		"afterHoursServiceAccepted is false unless sent": (*ordersv1.Fulfilment).GetAfterHoursServiceAccepted,
		"brandedPackagingRequested is false unless sent": (*ordersv1.Fulfilment).GetBrandedPackagingRequested,
	} {
		t.Run(promise, func(t *testing.T) { require.Equal(t, []bool{false, true}, []bool{get(unsaid), get(said)}) })
	}
	t.Run("recipient is required", func(t *testing.T) { s.refuse(t, s.body(t, without("recipient")), "recipient required") })
	t.Run("the operator reads all that was sent", func(t *testing.T) {
		want := &ordersv1.DeliveryDetails{
			Client: &ordersv1.OrderClient{Name: markedName, Email: proto.String(markedEmail)},
			Recipient: &ordersv1.OrderRecipient{
				Name: markedName, Phone: markedPhone, Email: proto.String(markedEmail),
				Address: &ordersv1.OrderAddress{Street: markedStreet, City: "Visby", PostalCode: proto.String("621 57"), Country: "SE"},
			},
			CourierComment: "Ring twice.", AdditionalDetails: "Gift wrap.",
		}
		require.True(t, proto.Equal(want, s.file(t, full).GetDetails()), "%v", s.file(t, full).GetDetails())
	})
}
