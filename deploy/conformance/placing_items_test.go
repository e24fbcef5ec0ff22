package conformance_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// testItems is about what an order can ask for.
func (f *fixture) testItems(t *testing.T) {
	gift := f.richGift(t)
	chosen := record{"Size": "M", "Colour": "Red"}
	requirement(t, "PLA-18", func(t *testing.T) {
		item := record{"productId": gift.GetId(), "variations": chosen}
		f.invalid(t, "items required", without("items"))
		f.invalid(t, "items required", with("items", []any{}))
		f.invalid(t, "items invalid", with("items", []any{item, item}))
	})
	requirement(t, "PLA-33", func(t *testing.T) {
		order := f.place(t, ofGift(gift.GetId(), chosen))
		require.Equal(t, []any{gift.GetId(), chosen}, []any{at(order, "items.0.productId"), at(order, "items.0.variations")})
	})
	requirement(t, "PLA-34", func(t *testing.T) {
		for _, wrong := range []record{
			{},
			{"Size": "M"},
			{"Size": "XXL", "Colour": "Red"},
			{"Size": "m", "Colour": "Red"},
			{"size": "M", "Colour": "Red"},
			{"Size": "M", "Colour": "Red", "Length": "1"},
		} {
			f.refuse(t, "invalid_variations", ofGift(gift.GetId(), wrong))
		}
	})
	requirement(t, "PLA-29", func(t *testing.T) {
		order := f.place(t, ofGift(gift.GetId(), chosen), with("customization", record{"details": "A. B."}))
		require.Equal(t, "A. B.", f.readAsOperator(t, order).GetDetails().GetCustomization())
		plain := f.putGift(t, "S")
		f.invalid(t, "customization invalid", ofGift(plain.GetId(), small()), with("customization", record{"details": "A. B."}))
	})
	requirement(t, "PLA-36", func(t *testing.T) {
		both := with("items.0.productId", gift.GetId())
		f.invalid(t, "items[0].productId invalid", custom("1.00", "SEK"), both)
	})
	requirement(t, "PLA-37", func(t *testing.T) { f.testAmounts(t, []any{0.01, "0.01"}, []any{0, "0.00", -1, "-0.01"}) })
	requirement(t, "PLA-38", func(t *testing.T) { f.testAmounts(t, []any{"9999999999.99"}, []any{10000000000, "10000000000.00"}) })
	requirement(t, "PLA-39", func(t *testing.T) { f.testAmounts(t, []any{7, 7.5, "7.25"}, []any{"7.255", 0.001}) })
	requirement(t, "PLA-40", func(t *testing.T) {
		refused := f.Post(t, f.key, "/orders", f.body(t, custom("1.00", "EUR"))).Invalid(t, "items[0].budget.currency invalid")
		require.Contains(t, at(refused, "errors.0.message"), "SEK")
	})
	requirement(t, "PLA-63", func(t *testing.T) {
		f.refuse(t, "not_deliverable_to_country", ofGift(gift.GetId(), chosen), with("recipient.address.country", "IE"))
	})
	requirement(t, "PLA-62", func(t *testing.T) {
		gone := f.putGift(t, "S")
		for _, state := range unpublished() {
			f.putInState(t, gone, state)
			f.refuse(t, "product_not_available", ofGift(gone.GetId(), small()))
		}
		f.refuse(t, "product_not_available", ofGift(uuid.NewString(), small()))
	})
	requirement(t, "PLA-61", func(t *testing.T) {
		campaign := f.campaign(t, -1, f.putGift(t, "S"))
		f.refuse(t, "product_not_in_campaign", ofCampaign(campaign.GetId()), ofGift(gift.GetId(), chosen))
	})
}

// testAmounts orders within each budget.
func (f *fixture) testAmounts(t *testing.T, good, bad []any) {
	t.Helper()
	for _, amount := range good {
		f.place(t, custom(amount, "SEK"))
	}
	for _, amount := range bad {
		f.invalid(t, "items[0].budget.amount invalid", custom(amount, "SEK"))
	}
}

// testDefaults is about what an order need not say.
func (f *fixture) testDefaults(t *testing.T) {
	bare, full := f.place(t), f.place(t, with("urgent", true), with("afterHoursServiceAccepted", true), with("brandedPackagingRequested", true),
		with("courierComment", "Ring twice."), with("additionalDetails", "Gift wrap."), with("customFields", []any{
			record{"fieldId": f.text, "textValue": "Hi"}, record{"fieldId": f.box, "checked": false}, record{"fieldId": f.choice, "textValue": "Birthday"},
		}))
	requirement(t, "PLA-25", func(t *testing.T) { require.Equal(t, []any{false, true}, []any{bare["urgent"], full["urgent"]}) })
	read := f.readAsOperator(t, full)
	unsaid, said := f.readAsOperator(t, bare).GetFulfilment(), read.GetFulfilment()
	for id, get := range map[string]func(f *ordersv1.Fulfilment) bool{
		"PLA-26": (*ordersv1.Fulfilment).GetAfterHoursServiceAccepted,
		"PLA-27": (*ordersv1.Fulfilment).GetBrandedPackagingRequested,
	} {
		requirement(t, id, func(t *testing.T) { require.Equal(t, []bool{false, true}, []bool{get(unsaid), get(said)}) })
	}
	requirement(t, "PLA-21", func(t *testing.T) { f.invalid(t, "recipient required", without("recipient")) })
	requirement(t, "PLA-59", func(t *testing.T) {
		want := &ordersv1.DeliveryDetails{
			Client: &ordersv1.OrderClient{Name: harness.MarkedName, Email: proto.String(harness.MarkedEmail)},
			Recipient: &ordersv1.OrderRecipient{
				Name: harness.MarkedName, Phone: harness.MarkedPhone, Email: proto.String(harness.MarkedEmail),
				Address: &ordersv1.OrderAddress{Street: harness.MarkedStreet, City: "Visby", PostalCode: proto.String("621 57"), Country: "SE"},
			},
			CourierComment: "Ring twice.", AdditionalDetails: "Gift wrap.",
			CustomFields: []*ordersv1.CustomFieldAnswer{
				{FieldId: f.text, TextValue: proto.String("Hi")},
				{FieldId: f.box, Checked: proto.Bool(false)},
				{FieldId: f.choice, TextValue: proto.String("Birthday")},
			},
		}
		require.True(t, proto.Equal(want, read.GetDetails()), "%v", read.GetDetails())
	})
}
