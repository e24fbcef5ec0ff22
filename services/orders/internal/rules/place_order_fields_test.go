package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/fields/fieldstest"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/restjson"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

const aUUID = "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"

// valid is a valid request; each case changes it.
func valid() *ordersv1.PlaceOrderRequest {
	return &ordersv1.PlaceOrderRequest{
		ExternalOrderId: "o-1",
		BrandId:         new(aUUID),
		Items:           []*ordersv1.OrderItemInput{{ProductId: new(aUUID), Variations: map[string]string{"Size": "M"}}},
		Client:          &ordersv1.OrderClient{Name: "Ann"},
		Recipient: &ordersv1.OrderRecipient{
			Name: "Ann", Phone: "+46 70-123 45 67",
			Address: &ordersv1.OrderAddress{Street: "Storgatan 1", City: "Stockholm", PostalCode: new("111 22"), Country: "SE"},
		},
	}
}

func custom() *ordersv1.PlaceOrderRequest {
	r := valid()
	r.Items = []*ordersv1.OrderItemInput{{
		CustomProductName: new("A signed ball"), Budget: &commonv1.Money{Amount: "100.50", Currency: "SEK"},
	}}
	return r
}

const (
	textID     = "0198f2e4-7a2b-7c3d-8e4f-000000000001"
	dropdownID = "0198f2e4-7a2b-7c3d-8e4f-000000000002"
	unknownID  = "0198f2e4-7a2b-7c3d-8e4f-000000000003"
)

// swedish is a tenant with two order fields.
func swedish() *tenantsv1.Tenant {
	return &tenantsv1.Tenant{Currency: "SEK", CustomFields: []*tenantsv1.CustomField{
		{Id: textID, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT},
		{Id: dropdownID, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN, Options: []string{"VIP"}},
	}}
}

func errorsOf(r *ordersv1.PlaceOrderRequest) []string {
	errs := &fields.Errors{}
	rules.CheckPlaceOrder(r, swedish(), errs)
	return found(errs)
}

func TestValidRequests(t *testing.T) {
	t.Parallel()
	require.Empty(t, errorsOf(valid()))
	require.Empty(t, errorsOf(custom()))
	ireland := valid()
	ireland.Recipient.Address.Country, ireland.Recipient.Address.PostalCode = "IE", nil
	require.Empty(t, errorsOf(ireland), "a postal code is optional in Ireland")
	blanks := valid()
	blanks.Client.Email, blanks.Recipient.Email = new(""), new(" ")
	blanks.CampaignId, blanks.Items[0].CustomProductName = new(""), new(" ")
	blanks.ExternalRecipientId, blanks.ManagerEmail = new(strings.Repeat("\u200b", 129)), new("\u3164")
	blanks.Customization, blanks.AdditionalDetails = &ordersv1.OrderCustomization{Details: "\u2800"}, new("\ufeff\r\n")
	blanks.BrandId, blanks.CourierComment = new("\u2060"), new(strings.Repeat(" ", 501))
	require.Empty(t, errorsOf(blanks), "a blank optional member is a missing one")
	require.Nil(t, blanks.GetCustomization())
	withBlank := custom()
	withBlank.Customization = &ordersv1.OrderCustomization{Details: " "}
	require.Empty(t, errorsOf(withBlank), "a blank customization is none")
	lines := valid()
	lines.CourierComment, lines.AdditionalDetails = new("Ring\r\n\ttwice"), new("a\nb")
	lines.Recipient.Name = "جاسم\u200cزاده"
	require.Empty(t, errorsOf(lines))
}

func TestBlankTextsAreNotStored(t *testing.T) {
	t.Parallel()
	r := valid()
	r.Recipient.Address.Country, r.Recipient.Address.PostalCode = "IE", new(" \u00ad")
	r.CourierComment, r.AdditionalDetails, r.ExternalActionRef = new(" \u200b"), new("\ufeff"), new("\u2800")
	r.Client.Email, r.Recipient.Email = new("\u200b"), new("\u3164")
	require.Empty(t, errorsOf(r))
	hours, err := rules.ParseOpeningHours("Mon-Fri 09:00-17:00", "UTC")
	require.NoError(t, err)
	order := rules.Placement{Request: r}.NewOrder(corrected, hours, identity.Cell{Letter: "a"})
	require.Nil(t, order.Record.ExternalActionRef)
	require.Equal(t, rules.Details{
		Client:    rules.Client{Name: "Ann"},
		Recipient: rules.Recipient{Name: "Ann", Phone: "+46701234567", Street: "Storgatan 1", City: "Stockholm", Country: "IE"},
	}, order.Details)
}

func TestEachErrorNamesItsField(t *testing.T) {
	t.Parallel()
	type req = *ordersv1.PlaceOrderRequest
	for name, tc := range map[string]struct {
		spoil func(r req)
		want  []string
	}{
		"nothing at all": {
			func(r req) { proto.Reset(r) },
			[]string{"externalOrderId required", "items required", "client required", "recipient required"},
		},
		"blank members": {
			func(r req) {
				r.ExternalOrderId, r.Client.Name, r.Recipient.Name, r.Recipient.Phone = " ", "", "\u200b\U000e0041", ""
				to := r.GetRecipient().GetAddress()
				to.Street, to.City, to.Country = "", "", ""
				r.Items[0] = &ordersv1.OrderItemInput{}
			},
			[]string{
				"externalOrderId required", "items[0].productId required", "client.name required", "recipient.name required",
				"recipient.phone required", "recipient.address.street required", "recipient.address.city required",
				"recipient.address.country required",
			},
		},
		"invalid members": {
			func(r req) {
				r.CampaignId, r.BrandId, r.Items[0].ProductId = new("x"), new("x"), new("x")
				r.Client.Email, r.Recipient.Email, r.Recipient.Address.Country = new("ann@"), new("x"), "se"
			},
			[]string{
				"campaignId invalid", "brandId invalid", "items[0].productId invalid", "client.email invalid", "recipient.email invalid",
				"recipient.address.country invalid",
			},
		},
		"characters that no line has": {
			func(r req) {
				r.ExternalOrderId, r.Recipient.Name, r.Client.Name = "o\n1", "Ann\r\n", "\u202eAnn"
				to := r.GetRecipient().GetAddress()
				to.Street, to.City, to.PostalCode, r.CourierComment = "\x1b[2J", "a\x7f", new("111\t22"), new("a\ab")
			},
			[]string{
				"externalOrderId invalid", "client.name invalid", "recipient.name invalid", "recipient.address.street invalid",
				"recipient.address.city invalid", "recipient.address.postalCode invalid", "courierComment invalid",
			},
		},
		"two items":      {func(r req) { r.Items = append(r.GetItems(), r.GetItems()[0]) }, []string{"items invalid"}},
		"no address":     {func(r req) { r.Recipient.Address = nil }, []string{"recipient.address required"}},
		"no postal code": {func(r req) { r.Recipient.Address.PostalCode = nil }, []string{"recipient.address.postalCode required"}},
		"a blank postal code": {
			func(r req) { r.Recipient.Address.PostalCode = new(" ") }, []string{"recipient.address.postalCode required"},
		},
		"answers to nothing and to no UUID": {
			func(r req) { r.CustomFields = []*ordersv1.CustomFieldAnswer{{}, {FieldId: "x"}} },
			[]string{"customFields[0].fieldId required", "customFields[1].fieldId invalid"},
		},
		"two answers to one field": {func(r req) {
			r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: textID}, {FieldId: strings.ToUpper(textID)}}
		}, []string{"customFields[1].fieldId invalid"}},
		"a long answer, but only to a text field": {func(r req) {
			long := new(strings.Repeat("å", 2001))
			r.CustomFields = []*ordersv1.CustomFieldAnswer{
				{FieldId: textID, TextValue: long}, {FieldId: dropdownID, TextValue: long}, {FieldId: unknownID, TextValue: long},
			}
		}, []string{"customFields[0].textValue too_long"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := valid()
			tc.spoil(r)
			require.ElementsMatch(t, tc.want, errorsOf(r))
		})
	}
	for _, number := range []string{"070-123 45 67", "+46 70 CALL ME", "+4670", "+999701234567"} {
		r := valid()
		r.Recipient.Phone = number
		require.Equal(t, []string{"recipient.phone invalid"}, errorsOf(r), number)
	}
}

func TestAValueOfAnotherTypeCountsAsSent(t *testing.T) {
	t.Parallel()
	const budget = `"budget": {"amount": "1", "currency": "SEK"}`
	for members, want := range map[string][]string{
		`"items": [{"customProductName": 5}]`: {"items[0].customProductName invalid", "items[0].budget required"},
		`"items": [{"budget": 5}]`:            {"items[0].customProductName required", "items[0].budget invalid"},
		`"items": [{"budget": {"currency": 5}}]`: {
			"items[0].customProductName required", "items[0].budget.amount required", "items[0].budget.currency invalid",
		},
		`"items": [5], "campaignId": "` + aUUID + `"`: {"items[0] invalid"},
		`"items": [{"customProductName": "A ball", ` + budget + `, "variations": {"Size": 5}}], "customization": {"details": 5}`: {
			"items[0].variations.Size invalid", "items[0].variations invalid", "customization.details invalid", "customization invalid",
		},
	} {
		r, errs := valid(), &fields.Errors{}
		r.Items = nil
		errs.AddAll(restjson.Unmarshal([]byte("{"+members+"}"), r))
		rules.CheckPlaceOrder(r, swedish(), errs)
		require.ElementsMatch(t, want, found(errs), members)
	}
}

func TestTextsAreAsLongAsTheContractAllows(t *testing.T) {
	t.Parallel()
	gift, custom := valid(), custom()
	gift.Customization = &ordersv1.OrderCustomization{}
	fieldstest.RequireLimits(t, gift, func(errs *fields.Errors) { rules.CheckPlaceOrder(gift, swedish(), errs) },
		"custom_product_name")
	fieldstest.RequireLimits(t, custom, func(errs *fields.Errors) { rules.CheckPlaceOrder(custom, swedish(), errs) })
	correction := &correction{ExpectedVersion: new(int64(3)), Recipient: &delivery{Address: &address{}}}
	fieldstest.RequireLimits(t, correction, func(errs *fields.Errors) {
		current, _ := stored(isProcessing)
		_, _ = rules.CorrectDeliveryOf(current, correction, corrected, errs)
	})
	cancel, message := &ordersv1.CancelOrderRequest{}, &ordersv1.PostOrderMessageRequest{}
	fieldstest.RequireLimits(t, cancel, func(errs *fields.Errors) { rules.CheckCancelReason(cancel.GetReason(), errs) })
	fieldstest.RequireLimits(t, message, func(errs *fields.Errors) { rules.CheckMessageBody(message.GetBody(), errs) })
}

func TestLimitsAreInclusive(t *testing.T) {
	t.Parallel()
	order, _ := stored(isProcessing)
	message := rules.NewMessage(&ordersv1.MessageAuthor{}, "1", "abc")
	for before, want := range map[rules.Posted]bool{
		{Number: 9_999, Bytes: 3<<20 - 3}: true, {Number: 10_000}: false, {Bytes: 3<<20 - 2}: false,
	} {
		_, err := message.Post(order, before, corrected)
		require.Equal(t, want, err == nil, before)
	}
}

func TestCustomRequests(t *testing.T) {
	t.Parallel()
	type req = *ordersv1.PlaceOrderRequest
	for name, tc := range map[string]struct {
		spoil func(r req)
		want  []string
	}{
		"no name":   {func(r req) { r.Items[0].CustomProductName = new("") }, []string{"items[0].customProductName required"}},
		"no budget": {func(r req) { r.Items[0].Budget = nil }, []string{"items[0].budget required"}},
		"an empty budget": {
			func(r req) { r.Items[0].Budget = &commonv1.Money{} },
			[]string{"items[0].budget.amount required", "items[0].budget.currency required"},
		},
		"another currency": {func(r req) { r.Items[0].Budget.Currency = "EUR" }, []string{"items[0].budget.currency invalid"}},
		"what belongs to gifts of the catalog": {
			func(r req) {
				r.Items[0].ProductId, r.Items[0].Variations = new(aUUID), map[string]string{"a": "b"}
				r.CampaignId, r.Customization = new(aUUID), &ordersv1.OrderCustomization{Details: "x"}
			},
			[]string{"items[0].productId invalid", "items[0].variations invalid", "campaignId invalid", "customization invalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := custom()
			tc.spoil(r)
			require.ElementsMatch(t, tc.want, errorsOf(r))
		})
	}
	const invalid = "items[0].budget.amount invalid"
	for amount, want := range map[string][]string{
		"0.01": nil, "9999999999.99": nil, "1": nil, "1.5E7": nil, "1e2": nil, "1.100": nil,
		"1.5e+003": nil, "150." + strings.Repeat("0", 60): nil, "150." + strings.Repeat("0", 61): {invalid},
		"-1": {invalid}, "0.00": {invalid}, "10000000000": {invalid}, "1.001": {invalid}, "1e999999999": {invalid}, "ten": {invalid},
	} {
		r := custom()
		r.Items[0].Budget.Amount = amount
		require.Equal(t, want, errorsOf(r), amount)
	}
}
