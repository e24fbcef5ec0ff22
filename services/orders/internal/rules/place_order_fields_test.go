package rules_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/fields/fieldstest"
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
	order := rules.Placement{Request: r}.NewOrder(corrected, hours)
	require.Nil(t, order.Record.ExternalActionRef)
	require.Equal(t, rules.Details{
		Client:    rules.Person{Name: "Ann"},
		Recipient: rules.Recipient{Name: "Ann", Phone: "+46701234567", Street: "Storgatan 1", City: "Stockholm", Country: "IE"},
	}, order.Details)
}

// TestNothingIsRequiredOfWhatIsIgnoredOrComparedLater has requests that are not refused for a limit: what does not count has none,
// and a value that must be one of some values is compared with them, however long it is.
func TestNothingIsRequiredOfWhatIsIgnoredOrComparedLater(t *testing.T) {
	t.Parallel()
	type req = *ordersv1.PlaceOrderRequest
	long := strings.Repeat("å", 2001)
	for name, change := range map[string]func(r req){
		"a long answer to an unknown field": func(r req) {
			r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: unknownID, TextValue: &long}}
		},
		"many answers to unknown fields": func(r req) {
			r.CustomFields = slices.Repeat([]*ordersv1.CustomFieldAnswer{{FieldId: unknownID}}, 5000)
		},
		"a long answer to a dropdown": func(r req) {
			r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: dropdownID, TextValue: &long}}
		},
		"a long value of a dimension":   func(r req) { r.Items[0].Variations["Size"] = long },
		"a dimension with a long name":  func(r req) { r.Items[0].Variations[long] = "M" },
		"many dimensions":               func(r req) { r.Items[0].Variations = manyDimensions() },
		"a long address of the manager": func(r req) { r.ManagerEmail = new(long + "@example.com") },
	} {
		t.Run(name, func(t *testing.T) {
			r := valid()
			change(r)
			require.Empty(t, errorsOf(r))
		})
	}
}

func manyDimensions() map[string]string {
	many := map[string]string{}
	for i := range 5000 {
		many[strconv.Itoa(i)] = "x"
	}
	return many
}

func TestABlankCustomizationIsNone(t *testing.T) {
	t.Parallel()
	for _, details := range []string{"", " \t\n"} {
		for _, r := range []*ordersv1.PlaceOrderRequest{valid(), custom()} {
			r.Customization = &ordersv1.OrderCustomization{Details: details}
			require.Empty(t, errorsOf(r))
			require.Nil(t, r.GetCustomization())
		}
	}
}

func TestEachErrorNamesItsField(t *testing.T) {
	t.Parallel()
	type req = *ordersv1.PlaceOrderRequest
	for name, tc := range map[string]struct {
		spoil func(r req)
		want  string
	}{
		"no external id":                     {func(r req) { r.ExternalOrderId = " " }, "externalOrderId required"},
		"a campaign id that is invalid":      {func(r req) { r.CampaignId = new("x") }, "campaignId invalid"},
		"a brand id that is invalid":         {func(r req) { r.BrandId = new("x") }, "brandId invalid"},
		"no items":                           {func(r req) { r.Items = nil }, "items required"},
		"two items":                          {func(r req) { r.Items = append(r.GetItems(), r.GetItems()[0]) }, "items invalid"},
		"an empty item":                      {func(r req) { r.Items[0] = &ordersv1.OrderItemInput{} }, "items[0].productId required"},
		"a product id that is invalid":       {func(r req) { r.Items[0].ProductId = new("x") }, "items[0].productId invalid"},
		"no client":                          {func(r req) { r.Client = nil }, "client required"},
		"no client name":                     {func(r req) { r.Client.Name = "" }, "client.name required"},
		"a client e-mail that is invalid":    {func(r req) { r.Client.Email = new("ann@") }, "client.email invalid"},
		"no recipient":                       {func(r req) { r.Recipient = nil }, "recipient required"},
		"no recipient name":                  {func(r req) { r.Recipient.Name = "" }, "recipient.name required"},
		"no phone":                           {func(r req) { r.Recipient.Phone = "" }, "recipient.phone required"},
		"a phone without country":            {func(r req) { r.Recipient.Phone = "070-123 45 67" }, "recipient.phone invalid"},
		"a phone with letters":               {func(r req) { r.Recipient.Phone = "+46 70 CALL ME" }, "recipient.phone invalid"},
		"a phone that is too short":          {func(r req) { r.Recipient.Phone = "+4670" }, "recipient.phone invalid"},
		"a phone of no country":              {func(r req) { r.Recipient.Phone = "+999701234567" }, "recipient.phone invalid"},
		"a recipient e-mail that is invalid": {func(r req) { r.Recipient.Email = new("x") }, "recipient.email invalid"},
		"no address":                         {func(r req) { r.Recipient.Address = nil }, "recipient.address required"},
		"no street":                          {func(r req) { r.Recipient.Address.Street = "" }, "recipient.address.street required"},
		"no city":                            {func(r req) { r.Recipient.Address.City = "" }, "recipient.address.city required"},
		"no country":                         {func(r req) { r.Recipient.Address.Country = "" }, "recipient.address.country required"},
		"a country in lower case":            {func(r req) { r.Recipient.Address.Country = "se" }, "recipient.address.country invalid"},
		"a missing postal code": {
			func(r req) { r.Recipient.Address.PostalCode = nil }, "recipient.address.postalCode required",
		},
		"a blank postal code": {
			func(r req) { r.Recipient.Address.PostalCode = new(" ") }, "recipient.address.postalCode required",
		},
		"an answer to nothing": {
			func(r req) { r.CustomFields = []*ordersv1.CustomFieldAnswer{{}} }, "customFields[0].fieldId required",
		},
		"an answer to no uuid": {
			func(r req) { r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: "x"}} }, "customFields[0].fieldId invalid",
		},
		"a reference of two lines":           {func(r req) { r.ExternalOrderId = "o\n1" }, "externalOrderId invalid"},
		"a name that ends with a line break": {func(r req) { r.Recipient.Name = "Ann\r\n" }, "recipient.name invalid"},
		"a name that overrides directions":   {func(r req) { r.Client.Name = "\u202eAnn" }, "client.name invalid"},
		"a name that nobody sees":            {func(r req) { r.Client.Name = "\u200b\U000e0041" }, "client.name required"},
		"a street with an escape": {
			func(r req) { r.Recipient.Address.Street = "\x1b[2J" }, "recipient.address.street invalid",
		},
		"a city with a delete": {func(r req) { r.Recipient.Address.City = "a\x7f" }, "recipient.address.city invalid"},
		"a postal code with a tab": {
			func(r req) { r.Recipient.Address.PostalCode = new("111\t22") }, "recipient.address.postalCode invalid",
		},
		"a comment with a bell": {func(r req) { r.CourierComment = new("a\ab") }, "courierComment invalid"},
		"two answers to one field": {func(r req) {
			r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: textID}, {FieldId: strings.ToUpper(textID)}}
		}, "customFields[1].fieldId invalid"},
		"a long answer to a text field": {func(r req) {
			r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: textID, TextValue: new(strings.Repeat("å", 2001))}}
		}, "customFields[0].textValue too_long"},
	} {
		t.Run(name, func(t *testing.T) {
			r := valid()
			tc.spoil(r)
			require.Equal(t, []string{tc.want}, errorsOf(r))
		})
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
		{Number: 9_999, Bytes: 8<<20 - 3}: true, {Number: 10_000}: false, {Bytes: 8<<20 - 2}: false,
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
		want  string
	}{
		"no name": {
			func(r req) { r.Items[0].CustomProductName = new("") }, "items[0].customProductName required",
		},
		"no budget":         {func(r req) { r.Items[0].Budget = nil }, "items[0].budget required"},
		"no amount":         {func(r req) { r.Items[0].Budget.Amount = "" }, "items[0].budget.amount required"},
		"a negative amount": {func(r req) { r.Items[0].Budget.Amount = "-1" }, "items[0].budget.amount invalid"},
		"nothing":           {func(r req) { r.Items[0].Budget.Amount = "0.00" }, "items[0].budget.amount invalid"},
		"the first amount that is too large": {
			func(r req) { r.Items[0].Budget.Amount = "10000000000" }, "items[0].budget.amount invalid",
		},
		"three decimals": {func(r req) { r.Items[0].Budget.Amount = "1.001" }, "items[0].budget.amount invalid"},
		"an exponent": {
			func(r req) { r.Items[0].Budget.Amount = "1e999999999" }, "items[0].budget.amount invalid",
		},
		"words":              {func(r req) { r.Items[0].Budget.Amount = "ten" }, "items[0].budget.amount invalid"},
		"no currency":        {func(r req) { r.Items[0].Budget.Currency = "" }, "items[0].budget.currency required"},
		"another currency":   {func(r req) { r.Items[0].Budget.Currency = "EUR" }, "items[0].budget.currency invalid"},
		"a product as well":  {func(r req) { r.Items[0].ProductId = new(aUUID) }, "items[0].productId invalid"},
		"a campaign as well": {func(r req) { r.CampaignId = new(aUUID) }, "campaignId invalid"},
		"variations as well": {
			func(r req) { r.Items[0].Variations = map[string]string{"a": "b"} }, "items[0].variations invalid",
		},
		"customization as well": {
			func(r req) { r.Customization = &ordersv1.OrderCustomization{Details: "x"} }, "customization invalid",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := custom()
			tc.spoil(r)
			require.Equal(t, []string{tc.want}, errorsOf(r))
		})
	}
	for _, amount := range []string{"0.01", "9999999999.99", "1", "1.5E7", "1e2", "1.100"} {
		r := custom()
		r.Items[0].Budget.Amount = amount
		require.Empty(t, errorsOf(r), amount)
	}
}

func TestAllErrorsAreReportedTogether(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"externalOrderId required", "items required", "client required", "recipient required",
	}, errorsOf(&ordersv1.PlaceOrderRequest{}))
}
