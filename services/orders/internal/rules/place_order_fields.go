package rules

import (
	"fmt"
	"regexp"

	"github.com/shopspring/decimal"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Lengths in Unicode code points.
var (
	maxExternalOrderID   = fields.MaxLength(&ordersv1.PlaceOrderRequest{}, "externalOrderId")
	maxCourierComment    = fields.MaxLength(&ordersv1.PlaceOrderRequest{}, "courierComment")
	maxAdditionalDetails = fields.MaxLength(&ordersv1.PlaceOrderRequest{}, "additionalDetails")
	maxCustomization     = fields.MaxLength(&ordersv1.OrderCustomization{}, "details")
	maxCustomName        = fields.MaxLength(&ordersv1.OrderItemInput{}, "customProductName")
	maxClientName        = fields.MaxLength(&ordersv1.OrderClient{}, "name")
	maxClientEmail       = fields.MaxLength(&ordersv1.OrderClient{}, "email")
	maxRecipientName     = fields.MaxLength(&ordersv1.OrderRecipient{}, "name")
	maxPhone             = fields.MaxLength(&ordersv1.OrderRecipient{}, "phone")
	maxRecipientEmail    = fields.MaxLength(&ordersv1.OrderRecipient{}, "email")
	maxStreet            = fields.MaxLength(&ordersv1.OrderAddress{}, "street")
	maxCity              = fields.MaxLength(&ordersv1.OrderAddress{}, "city")
	maxPostalCode        = fields.MaxLength(&ordersv1.OrderAddress{}, "postalCode")
)

// maxCheckedItems is well above what an order needs, so that a hostile list costs little.
const maxCheckedItems = 10

type placeRequest = *ordersv1.PlaceOrderRequest

// recordTexts are the optional texts that an order copies from its request unchanged.
var recordTexts = []struct {
	name string
	// ofPerson means that the text says something about a person, so an erasure removes it.
	ofPerson bool
	read     func(placeRequest) string
	target   func(*ordersv1.Order) **string
}{
	{
		"externalRecipientId", true, placeRequest.GetExternalRecipientId,
		func(o *ordersv1.Order) **string { return &o.ExternalRecipientId },
	},
	{
		"externalCampaignRef", false, placeRequest.GetExternalCampaignRef,
		func(o *ordersv1.Order) **string { return &o.ExternalCampaignRef },
	},
	{
		"externalActionRef", true, placeRequest.GetExternalActionRef,
		func(o *ordersv1.Order) **string { return &o.ExternalActionRef },
	},
}

// CheckPlaceOrder finds all field errors of the request to a tenant, for invalid_request.
func CheckPlaceOrder(req *ordersv1.PlaceOrderRequest, tenant *tenantsv1.Tenant, errs *fields.Errors) {
	errs.Required("externalOrderId", req.GetExternalOrderId(), maxExternalOrderID)
	checkOrder(req, tenant, errs)
}

// CheckPlaceOrderAs is CheckPlaceOrder for an order that a person places. Such an order has no
// external id: those belong to the integrator.
func CheckPlaceOrderAs(req *ordersv1.PlaceOrderRequest, tenant *tenantsv1.Tenant, errs *fields.Errors) {
	if !fields.Blank(req.GetExternalOrderId()) {
		errs.Add("externalOrderId", problem.FieldInvalid, "is allowed only for orders placed through the API")
	}
	checkOrder(req, tenant, errs)
}

func checkOrder(req *ordersv1.PlaceOrderRequest, tenant *tenantsv1.Tenant, errs *fields.Errors) {
	dropBlanks(req, errs)
	for _, text := range recordTexts {
		errs.Line(text.name, text.read(req), fields.MaxLength(req, text.name))
	}
	req.CampaignId = errs.OptionalUUID("campaignId", req.CampaignId)
	req.BrandId = errs.OptionalUUID("brandId", req.BrandId)
	checkItems(req, tenant.GetCurrency(), errs)
	checkClient(req.GetClient(), errs)
	CheckRecipient(req.GetRecipient(), errs)
	errs.Text("courierComment", req.GetCourierComment(), maxCourierComment)
	errs.Text("additionalDetails", req.GetAdditionalDetails(), maxAdditionalDetails)
	errs.Text("customization.details", req.GetCustomization().GetDetails(), maxCustomization)
	checkAnswers(req.GetCustomFields(), tenant.GetCustomFields(), errs)
}

// dropBlanks treats a blank optional id, name or customization as missing. A customization in which the edge found an error is not
// blank.
func dropBlanks(req *ordersv1.PlaceOrderRequest, errs *fields.Errors) {
	req.BrandId, req.CampaignId = fields.Optional(req.BrandId), fields.Optional(req.CampaignId)
	if fields.Blank(req.GetCustomization().GetDetails()) && !errs.Touches("customization") {
		req.Customization = nil
	}
	for _, item := range req.GetItems() {
		item.ProductId, item.CustomProductName = fields.Optional(item.ProductId), fields.Optional(item.CustomProductName)
	}
}

func checkItems(req *ordersv1.PlaceOrderRequest, currency string, errs *fields.Errors) {
	items := req.GetItems()
	if len(items) == 0 {
		errs.Add("items", problem.FieldRequired, "must hold exactly one item")
	}
	for i, item := range items[:min(len(items), maxCheckedItems)] {
		if at := fmt.Sprintf("items[%d]", i); !errs.Has(at) { // An item that is no object has no members.
			checkItem(at, req, item, currency, errs)
		}
	}
	// Last, because an error of the whole list hides later ones of its elements.
	if len(items) > 1 {
		errs.Add("items", problem.FieldInvalid, "must hold exactly one item")
	}
}

func checkItem(at string, req *ordersv1.PlaceOrderRequest, item *ordersv1.OrderItemInput, currency string, errs *fields.Errors) {
	if IsCustom(at, item, errs) {
		checkCustomItem(at, req, item, currency, errs)
		return
	}
	if item.ProductId == nil {
		errs.Add(at+".productId", problem.FieldRequired, "is required, or customProductName with budget")
	}
	item.ProductId = errs.OptionalUUID(at+".productId", item.ProductId)
}

// IsCustom reports whether the item is a custom request rather than a catalog gift. A member in which the edge found an error was
// sent.
func IsCustom(at string, item *ordersv1.OrderItemInput, errs *fields.Errors) bool {
	return item.CustomProductName != nil || item.GetBudget() != nil ||
		errs.Touches(at+".customProductName") || errs.Touches(at+".budget")
}

func checkCustomItem(
	at string, req *ordersv1.PlaceOrderRequest, item *ordersv1.OrderItemInput, currency string, errs *fields.Errors,
) {
	errs.Required(at+".customProductName", item.GetCustomProductName(), maxCustomName)
	if item.ProductId != nil {
		errs.Add(at+".productId", problem.FieldInvalid, "cannot be combined with a custom request")
	}
	if len(item.GetVariations()) > 0 || errs.Touches(at+".variations") {
		errs.Add(at+".variations", problem.FieldInvalid, "cannot be combined with a custom request")
	}
	if req.CampaignId != nil {
		errs.Add("campaignId", problem.FieldInvalid, "cannot be combined with a custom request")
	}
	if req.GetCustomization() != nil {
		errs.Add("customization", problem.FieldInvalid, "is allowed only for catalog gifts")
	}
	checkBudget(at+".budget", item.GetBudget(), currency, errs)
}

func checkClient(c *ordersv1.OrderClient, errs *fields.Errors) {
	if c == nil {
		errs.Add("client", problem.FieldRequired, "is required")
		return
	}
	errs.Required("client.name", c.GetName(), maxClientName)
	errs.Email("client.email", c.GetEmail(), maxClientEmail)
}

// CheckRecipient finds every error of a recipient. It rewrites a valid phone number as E.164, because parsing is expensive and
// should happen only once.
func CheckRecipient(r *ordersv1.OrderRecipient, errs *fields.Errors) {
	if r == nil {
		errs.Add("recipient", problem.FieldRequired, "is required")
		return
	}
	errs.Required("recipient.name", r.GetName(), maxRecipientName)
	errs.RequiredText("recipient.phone", r.GetPhone(), maxPhone)
	number, ok := phone.Parse(r.GetPhone())
	if ok {
		r.Phone = number
	} else {
		errs.Add("recipient.phone", problem.FieldInvalid, "must be an international number: +, country code, digits")
	}
	errs.Email("recipient.email", r.GetEmail(), maxRecipientEmail)
	checkAddress(r.GetAddress(), errs)
}

func checkAddress(a *ordersv1.OrderAddress, errs *fields.Errors) {
	const at = "recipient.address"
	if a == nil {
		errs.Add(at, problem.FieldRequired, "is required")
		return
	}
	errs.Required(at+".street", a.GetStreet(), maxStreet)
	errs.Required(at+".city", a.GetCity(), maxCity)
	switch {
	case fields.Blank(a.GetCountry()):
		errs.Add(at+".country", problem.FieldRequired, "is required")
	case !fields.IsCountry(a.GetCountry()):
		errs.Add(at+".country", problem.FieldInvalid, "must be an ISO 3166-1 alpha-2 code in upper case")
	}
	errs.Line(at+".postalCode", a.GetPostalCode(), maxPostalCode)
	if fields.PostalCodeRequired(a.GetCountry()) && fields.Blank(a.GetPostalCode()) {
		errs.Add(at+".postalCode", problem.FieldRequired, "is required in this country")
	}
}

func checkAnswers(answers []*ordersv1.CustomFieldAnswer, definitions []*tenantsv1.CustomField, errs *fields.Errors) {
	for i, a := range answers {
		if fields.Blank(a.GetFieldId()) {
			errs.Add(fmt.Sprintf("customFields[%d].fieldId", i), problem.FieldRequired, "is required")
		}
	}
	for i, field := range fields.CheckCustomFieldIDs(definitions, CustomAnswers(answers), errs) {
		if field.GetType() == tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT {
			errs.Text(fmt.Sprintf("customFields[%d].textValue", i), answers[i].GetTextValue(), fields.MaxCustomFieldText)
		}
	}
}

// decimalText bounds the exponent, because a short text could otherwise mean a number of a billion digits. No budget of at most
// maxDecimal characters needs an exponent of three digits.
var decimalText = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][+-]?0*[0-9]{1,2})?$`)

const maxDecimal = 64

// budgetLimit is the smallest amount that is too large for a custom budget.
var budgetLimit = decimal.New(1, 10)

const moneyDecimals = 2

// ParseBudget reads an amount that is positive, below 10000000000 and has at most two decimals.
func ParseBudget(text string) (decimal.Decimal, bool) {
	if len(text) > maxDecimal || !decimalText.MatchString(text) {
		return decimal.Decimal{}, false
	}
	amount, err := decimal.NewFromString(text)
	if err != nil || !amount.IsPositive() || amount.GreaterThanOrEqual(budgetLimit) || !amount.Equal(amount.Truncate(moneyDecimals)) {
		return decimal.Decimal{}, false
	}
	return amount, true
}

func checkBudget(at string, b *commonv1.Money, currency string, errs *fields.Errors) {
	if b == nil {
		errs.Add(at, problem.FieldRequired, "is required for a custom request")
		return
	}
	if fields.Blank(b.GetAmount()) {
		errs.Add(at+".amount", problem.FieldRequired, "is required")
	} else if _, ok := ParseBudget(b.GetAmount()); !ok {
		errs.Add(at+".amount", problem.FieldInvalid, "must be positive, below 10000000000, with at most 2 decimals")
	}
	switch {
	case fields.Blank(b.GetCurrency()):
		errs.Add(at+".currency", problem.FieldRequired, "is required; expected "+currency)
	case b.GetCurrency() != currency:
		errs.Add(at+".currency", problem.FieldInvalid, "must be the tenant's currency, "+currency)
	}
}
