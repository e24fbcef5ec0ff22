package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func testPlacing(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "PLA-1", func(t *testing.T) {
		for length, code := range map[int]problem.Code{0: "idempotency_key_required", 256: "idempotency_key_invalid"} {
			request := f.postCall("/orders", f.body(t))
			request.Header = map[string]string{"Idempotency-Key": strings.Repeat("k", length)}
			f.Do(t, request).Problem(t, code)
		}
		blank := f.postCall("/orders", f.body(t))
		blank.Header = map[string]string{"Idempotency-Key": " "}
		f.Do(t, blank).Problem(t, "idempotency_key_required")
		longest := f.postCall("/orders", f.body(t))
		longest.IdempotencyKey = strings.Repeat("k", 255)
		require.Equal(t, http.StatusCreated, f.Do(t, longest).Status)
	})
	requirement(t, "PLA-2", func(t *testing.T) {
		request := f.postCall("/orders", f.body(t))
		request.Header = map[string]string{"Content-Type": "text/plain"}
		f.Do(t, request).Problem(t, "unsupported_media_type")
	})
	requirement(t, "PLA-3", func(t *testing.T) { require.InDelta(t, 0, f.place(t)["version"], 0) })
	requirement(t, "PLA-4", func(t *testing.T) {
		require.Equal(t, "PROCESSING", f.place(t)["status"])
		require.Equal(t, "REQUESTED", newFixture(t, p, approving).place(t)["status"])
	})
	requirement(t, "PLA-8", func(t *testing.T) {
		for kind, order := range map[string]record{"CATALOG": f.place(t), "CUSTOM": f.place(t, custom("10.00", "SEK"))} {
			require.Equal(t, kind, at(order, "items.0.kind"))
		}
	})
	requirement(t, "PLA-58", func(t *testing.T) {
		for path, value := range map[string]any{
			"urgent": "yes", "externalOrderId": 7, "items": record{}, "client": "Ann", "recipient.address": []any{}, "customFields": true,
			"recipient.phone": 46701112233, "items.0.variations": []any{}, "brandId": 1,
		} {
			f.invalid(t, strings.ReplaceAll(path, ".0", "[0]")+" invalid", with(path, value))
		}
		unnamed := f.body(t, with("items", []any{record{"customProductName": 5}}))
		f.Post(t, f.key, "/orders", unnamed).Invalid(t, "items[0].customProductName invalid", "items[0].budget required")
	})
	f = newFixture(t, p)
	f.testIDs(t)
	f.testSelection(t)
	f.testAnswers(t)
	newFixture(t, p).testItems(t)
	newFixture(t, p).testLengths(t)
	newFixture(t, p).testRecipients(t)
	newFixture(t, p).testDefaults(t)
	newFixture(t, p).testNullsInOrders(t)
}

// testIDs checks the caller's own ids.
func (f *fixture) testIDs(t *testing.T) {
	requirement(t, "PLA-5", func(t *testing.T) {
		f.invalid(t, "externalOrderId required", without("externalOrderId"))
		f.invalid(t, "externalOrderId required", with("externalOrderId", " \t"))
	})
	order := f.place(t, with("externalOrderId", "taken"), with("externalRecipientId", "player-1"))
	requirement(t, "PLA-7", func(t *testing.T) {
		f.refuse(t, "external_order_id_conflict", with("externalOrderId", "taken"), with("brandId", f.other))
		require.Equal(t, "taken", newFixture(t, f.platform).place(t, with("externalOrderId", "taken"))["externalOrderId"],
			"another tenant has its own")
	})
	requirement(t, "PLA-54", func(t *testing.T) {
		require.Equal(t, order["id"], f.refuse(t, "external_order_id_conflict", with("externalOrderId", "taken"))["orderId"])
	})
	requirement(t, "PLA-55", func(t *testing.T) {
		body := f.body(t, with("externalOrderId", "taken"), with("brandId", f.other))
		refused := f.Post(t, f.newKey(t, ofBrand(f.other)), "/orders", body).Problem(t, "external_order_id_conflict")
		require.NotContains(t, refused, "orderId")
	})
	requirement(t, "PLA-56", func(t *testing.T) {
		refused := f.Post(t, f.newKey(t), "/orders", f.body(t, with("externalOrderId", "taken"))).Problem(t, "external_order_id_conflict")
		require.Equal(t, order["id"], refused["orderId"])
	})
	requirement(t, "PLA-9", func(t *testing.T) { require.Nil(t, f.place(t)["externalRecipientId"]) })
	requirement(t, "PLA-11", func(t *testing.T) {
		require.Equal(t, []any{order["id"]}, ids(f.list(t, f.key, "/orders?externalRecipientId=player-1")...))
	})
	requirement(t, "PLA-53", func(t *testing.T) {
		require.Equal(t, "API", order["source"])
		require.Equal(t, "Conformance key", f.readAsOperator(t, order).GetFulfilment().GetPlacedByKey())
	})
}

// testSelection checks brand, campaign and manager.
func (f *fixture) testSelection(t *testing.T) {
	gift := f.putGift(t, "S", "M")
	campaign := f.campaign(t, 1, gift)
	from := []change{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())}
	requirement(t, "PLA-17", func(t *testing.T) {
		order := f.place(t, append(from, with("brandId", f.brand))...)
		f.cancel(t, "/orders/"+idOf(order))
		refused := f.refuse(t, "brand_campaign_mismatch", append(from, with("brandId", f.other))...)
		require.Equal(t, []string{"brandId invalid"}, harness.Violations(t, refused))
	})
	requirement(t, "PLA-14", func(t *testing.T) { require.Equal(t, f.brand, f.place(t, from...)["brandId"]) })
	requirement(t, "PLA-60", func(t *testing.T) {
		f.refuse(t, "out_of_stock", from...)
		f.place(t, ofCampaign(campaign.GetId()), ofGift(gift.GetId(), record{"Size": "M"}))
	})
	requirement(t, "PLA-15", func(t *testing.T) {
		f.invalid(t, "campaignId invalid", ofCampaign(campaign.GetId()), custom("1.00", "SEK"))
	})
	requirement(t, "PLA-16", func(t *testing.T) { f.refuse(t, "brand_required", without("brandId")) })
	requirement(t, "PLA-22", func(t *testing.T) {
		order := f.place(t, with("managerEmail", managerEmail))
		require.Equal(t, f.coordinator.GetId(), f.readAsOperator(t, order).GetFulfilment().GetManagerId())
		const elsewhere = "eve@elsewhere.example"
		newFixture(t, f.platform).addMember(t, "Eve", elsewhere, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, true)
		for _, email := range []string{formerMember, elsewhere, "nobody@conformance.example"} {
			f.refuse(t, "manager_not_found", with("managerEmail", email))
		}
	})
	requirement(t, "PLA-70", func(t *testing.T) { f.refuse(t, "manager_not_found", with("managerEmail", address(300))) })
}

// testAnswers checks the answers to the tenant's order fields.
func (f *fixture) testAnswers(t *testing.T) {
	const code = "invalid_custom_fields"
	answers := func(list ...any) change { return with("customFields", list) }
	answer := func(id string, member string, value any) any { return record{"fieldId": id, member: value} }
	requirement(t, "PLA-30", func(t *testing.T) {
		f.invalid(t, "customFields[0].fieldId required", answers(record{"textValue": "x"}))
		f.invalid(t, "customFields[0].fieldId invalid", answers(answer("x", "textValue", "x")))
	})
	requirement(t, "PLA-31", func(t *testing.T) {
		order := f.place(t, answers(answer(f.text, "textValue", "Hi"), answer(f.choice, "textValue", "Jackpot"),
			answer(f.box, "checked", true)))
		require.Len(t, f.readAsOperator(t, order).GetDetails().GetCustomFields(), 3)
		for _, wrong := range []any{
			answer(f.text, "checked", true), answer(f.choice, "textValue", "Funeral"), answer(f.box, "textValue", "yes"),
		} {
			f.refuse(t, code, answers(wrong))
		}
	})
	requirement(t, "PLA-32", func(t *testing.T) {
		order := f.place(t, answers(answer(uuid.NewString(), "textValue", "x")))
		require.Empty(t, f.readAsOperator(t, order).GetDetails().GetCustomFields())
	})
	requirement(t, "PLA-66", func(t *testing.T) {
		f.place(t, answers(answer(uuid.NewString(), "textValue", freshText(2001))))
		many := repeated(2001, answer(uuid.NewString(), "checked", true))
		order := f.place(t, answers(append(many, answer(f.text, "textValue", "x"))...))
		require.Len(t, f.readAsOperator(t, order).GetDetails().GetCustomFields(), 1)
		f.invalid(t, "customFields[1].fieldId invalid", answers(repeated(2, answer(f.text, "textValue", "x"))...))
		f.invalid(t, "customFields[0].textValue too_long", answers(answer(f.text, "textValue", freshText(2001))))
		f.refuse(t, code, answers(answer(f.choice, "textValue", freshText(2001))))
	})
	requirement(t, "PLA-68", func(t *testing.T) {
		const composed, decomposed = "Gr\u00fcn", "Gru\u0308n"
		field := &tenantsv1.CustomField{
			Id: uuid.NewString(), Label: "Colour", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN, Options: []string{composed},
		}
		f.putField(t, 4, field)
		gift := f.putGift(t, composed)
		campaign := f.campaign(t, 2, gift)
		for _, text := range []string{composed, decomposed} {
			order := f.place(t, answers(answer(field.GetId(), "textValue", text)), ofCampaign(campaign.GetId()),
				ofGift(gift.GetId(), record{"Size": text}))
			require.Equal(t, text, at(order, "items.0.variations.Size"))
			require.Equal(t, text, f.readAsOperator(t, order).GetDetails().GetCustomFields()[0].GetTextValue())
		}
		require.Equal(t, []any{0.0}, f.stockOf(t, campaign))
		for _, wrong := range []string{composed + " ", " " + composed, "gr\u00fcn", "Gr\u00fc", composed + "n", "Grun"} {
			f.refuse(t, code, answers(answer(field.GetId(), "textValue", wrong)))
			f.refuse(t, "invalid_variations", ofGift(gift.GetId(), record{"Size": wrong}))
		}
	})
	requirement(t, "PLA-64", func(t *testing.T) {
		required := f.requireField(t)
		f.refuse(t, code)
		f.refuse(t, code, answers(answer(required, "textValue", " ")))
		f.place(t, answers(answer(required, "textValue", "4711")))
	})
}

// testLength checks that a member may have limit characters and not one more.
func (f *fixture) testLength(t *testing.T, path string, limit int, before ...change) {
	t.Helper()
	text := freshText
	if strings.HasSuffix(path, "mail") {
		text = address
	}
	f.place(t, append(before, with(path, text(limit)))...)
	f.invalid(t, strings.ReplaceAll(path, ".0", "[0]")+" too_long", append(before, with(path, text(limit+1)))...)
}

// orderText is a text of an order, with the requirements of its limit and, unless empty, of the record: as it was sent, or null.
type orderText struct {
	path             string
	limit            int
	atMost, inRecord string
}

// orderTexts are those that are optional.
var orderTexts = []orderText{
	{"externalRecipientId", 128, "PLA-10", ""}, // ORD-5: a claimed order has that of its link.
	{"externalCampaignRef", 128, "PLA-12", "ORD-6"},
	{"externalActionRef", 128, "PLA-13", "ORD-7"},
	{"courierComment", 500, "PLA-23", ""},
	{"additionalDetails", 2000, "PLA-24", ""},
	{"recipient.address.postalCode", 20, "PLA-50", ""},
}

func (f *fixture) testLengths(t *testing.T) {
	for _, text := range orderTexts {
		requirement(t, text.atMost, func(t *testing.T) { f.testLength(t, text.path, text.limit) })
	}
	requirement(t, "PLA-28", func(t *testing.T) {
		gift := f.richGift(t)
		f.testLength(t, "customization.details", 2000,
			ofGift(gift.GetId(), record{"Size": "S", "Colour": "Red"}), with("customization", record{}))
	})
	requirement(t, "PLA-35", func(t *testing.T) { f.testLength(t, "items.0.customProductName", 255, custom("1.00", "SEK")) })
	for _, field := range []orderText{
		{"externalOrderId", 128, "PLA-6", ""},
		{"recipient.name", 100, "PLA-41", ""},
		{"recipient.address.street", 255, "PLA-47", ""},
		{"recipient.address.city", 100, "PLA-48", ""},
		{"client.name", 255, "PLA-19", ""},
	} {
		requirement(t, field.atMost, func(t *testing.T) {
			for _, change := range []change{without(field.path), with(field.path, "  "), with(field.path, nil)} {
				f.invalid(t, field.path+" required", change)
			}
			f.testLength(t, field.path, field.limit)
			if field.path == "client.name" {
				f.invalid(t, "client required", without("client"))
			}
		})
	}
	for id, path := range map[string]string{"PLA-20": "client.email", "PLA-44": "recipient.email"} {
		requirement(t, id, func(t *testing.T) {
			f.place(t, without(path))
			f.testLength(t, path, 255)
			f.invalid(t, path+" invalid", with(path, "ann@"))
		})
	}
}

// testRecipients checks recipients and addresses.
func (f *fixture) testRecipients(t *testing.T) {
	requirement(t, "PLA-42", func(t *testing.T) {
		f.invalid(t, "recipient.phone required", without("recipient.phone"))
		f.place(t, with("recipient.phone", "+46 70 111 22 33"+strings.Repeat(" ", 34)))
		f.invalid(t, "recipient.phone too_long", with("recipient.phone", "+46 70 111 22 33"+strings.Repeat("-", 35)))
	})
	requirement(t, "PLA-43", func(t *testing.T) { f.invalid(t, "recipient.address required", without("recipient.address")) })
	requirement(t, "PLA-45", func(t *testing.T) {
		for _, phone := range []string{"+46701112233", "+46 (70) 111-22.33", "+353 85 012 3456", "+12025550123"} {
			f.place(t, with("recipient.phone", phone))
		}
	})
	requirement(t, "PLA-46", func(t *testing.T) {
		for _, phone := range []string{"+46CALLME", "0701112233", "46701112233", "+0701112233", "+46", "+467011122334455667"} {
			f.invalid(t, "recipient.phone invalid", with("recipient.phone", phone))
		}
	})
	requirement(t, "PLA-71", func(t *testing.T) {
		for _, phone := range []string{"\u202a+46\u00a070\u2011111\u201322/33\u202c", "＋４６（０）７０１１１２２３３", "+٤٦٧٠١١١٢٢٣٣"} {
			order := f.place(t, with("recipient.phone", phone))
			require.Equal(t, "+46701112233", f.readAsOperator(t, order).GetDetails().GetRecipient().GetPhone(), phone)
		}
	})
	requirement(t, "PLA-72", func(t *testing.T) {
		for _, phone := range []string{"+460046701112233", "+46 00 701112233", "+46 +46701112233"} {
			f.invalid(t, "recipient.phone invalid", with("recipient.phone", phone))
		}
		f.place(t, with("recipient.phone", "+46 46 111 22 33"))
	})
	requirement(t, "PLA-49", func(t *testing.T) {
		f.invalid(t, "recipient.address.country required", without("recipient.address.country"))
		for _, country := range []string{"SWE", "se", "XX", "Sweden"} {
			f.invalid(t, "recipient.address.country invalid", with("recipient.address.country", country))
		}
	})
	const postal = "SE NO DK FI IS DE FR NL BE AT CH ES IT PT PL GR CZ SK HU RO BG HR SI EE LT LV LU UA " +
		"US CA MX BR GB IN JP SG CN KR AU NZ TH MY ID PH VN ZA TR IL"
	requirement(t, "PLA-51", func(t *testing.T) {
		for country := range strings.FieldsSeq(postal) {
			f.invalid(t, "recipient.address.postalCode required", custom("1.00", "SEK"), with("recipient.address.country", country),
				without("recipient.address.postalCode"))
		}
	})
	requirement(t, "PLA-52", func(t *testing.T) {
		for _, country := range []string{"IE", "HK", "AE", "MT", "CL", "NG"} {
			require.NotContains(t, strings.Fields(postal), country)
			f.place(t, custom("1.00", "SEK"), with("recipient.address.country", country), without("recipient.address.postalCode"))
		}
	})
}

// testItems checks the item of an order.
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
	requirement(t, "PLA-69", func(t *testing.T) {
		plain := f.putGift(t, "S")
		for _, blank := range []record{{}, {"details": nil}, {"details": ""}, {"details": " \n"}} {
			f.place(t, ofGift(plain.GetId(), small()), with("customization", blank))
			f.place(t, custom("1.00", "SEK"), with("customization", blank))
		}
	})
	requirement(t, "PLA-67", func(t *testing.T) {
		many := record{}
		for i := range 2001 {
			many[fmt.Sprint("Dimension ", i)] = "M"
		}
		for _, wrong := range []record{many, {"Size": freshText(256), "Colour": "Red"}, {"Size": "M", freshText(256): "Red"}} {
			f.refuse(t, "invalid_variations", ofGift(gift.GetId(), wrong))
		}
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

// testAmounts orders with each budget.
func (f *fixture) testAmounts(t *testing.T, good, bad []any) {
	t.Helper()
	for _, amount := range good {
		f.place(t, custom(amount, "SEK"))
	}
	for _, amount := range bad {
		f.invalid(t, "items[0].budget.amount invalid", custom(amount, "SEK"))
	}
}

// testDefaults checks the optional fields of an order.
func (f *fixture) testDefaults(t *testing.T) {
	bare := f.place(t)
	full := f.place(t, with("urgent", true), with("afterHoursServiceAccepted", true), with("brandedPackagingRequested", true),
		with("courierComment", "Ring twice."), with("additionalDetails", "Gift wrap."), with("customFields", []any{
			record{"fieldId": f.text, "textValue": "Hi"},
			record{"fieldId": f.box, "checked": false},
			record{"fieldId": f.choice, "textValue": "Birthday"},
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
