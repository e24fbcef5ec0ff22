package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// CustomAnswer is the answer to one of the tenant's order fields.
type CustomAnswer = fields.CustomFieldAnswer

// Details name and locate people, or hold free text that may. They are stored in one sealed column.
type Details struct {
	Client             Client         `json:"client"`
	Recipient          Recipient      `json:"recipient"`
	CourierComment     string         `json:"courierComment,omitempty"`
	AdditionalDetails  string         `json:"additionalDetails,omitempty"`
	Customization      string         `json:"customization,omitempty"`
	CustomFieldAnswers []CustomAnswer `json:"customFieldAnswers,omitempty"`
}

// Client is the one that the gift is for.
type Client struct {
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
}

// Recipient is the address that the gift ships to.
type Recipient struct {
	Name       string `json:"name"`
	Phone      string `json:"phone"` // E.164.
	Email      string `json:"email,omitempty"`
	Street     string `json:"street"`
	City       string `json:"city"`
	PostalCode string `json:"postalCode,omitempty"`
	Country    string `json:"country"`
}

// newDetails takes the details from a request that has no field errors.
func newDetails(req *ordersv1.PlaceOrderRequest, answers []CustomAnswer) Details {
	return Details{
		Client:             Client{Name: req.GetClient().GetName(), Email: fields.UnlessBlank(req.GetClient().GetEmail())},
		Recipient:          newRecipient(req.GetRecipient()),
		CourierComment:     fields.UnlessBlank(req.GetCourierComment()),
		AdditionalDetails:  fields.UnlessBlank(req.GetAdditionalDetails()),
		Customization:      req.GetCustomization().GetDetails(),
		CustomFieldAnswers: answers,
	}
}

// newRecipient converts a recipient in which CheckRecipient found no error.
func newRecipient(r *ordersv1.OrderRecipient) Recipient {
	a := r.GetAddress()
	return Recipient{
		Name:       r.GetName(),
		Phone:      r.GetPhone(),
		Email:      fields.UnlessBlank(r.GetEmail()),
		Street:     a.GetStreet(),
		City:       a.GetCity(),
		PostalCode: fields.UnlessBlank(a.GetPostalCode()),
		Country:    a.GetCountry(),
	}
}

// Present returns the details in the form of the operations API.
func (d Details) Present() *ordersv1.DeliveryDetails {
	r := d.Recipient
	out := &ordersv1.DeliveryDetails{
		Client: &ordersv1.OrderClient{Name: d.Client.Name, Email: fields.Optional(&d.Client.Email)},
		Recipient: &ordersv1.OrderRecipient{
			Name: r.Name, Phone: r.Phone, Email: fields.Optional(&r.Email),
			Address: &ordersv1.OrderAddress{
				Street: r.Street, City: r.City, PostalCode: fields.Optional(&r.PostalCode), Country: r.Country,
			},
		},
		CourierComment:    d.CourierComment,
		AdditionalDetails: d.AdditionalDetails,
		Customization:     d.Customization,
	}
	for _, a := range d.CustomFieldAnswers {
		out.CustomFields = append(out.CustomFields, &ordersv1.CustomFieldAnswer{
			FieldId: a.FieldID, TextValue: a.Text, Checked: a.Checked,
		})
	}
	return out
}

// CustomAnswers converts the answers of a request. A blank text counts as none.
func CustomAnswers(answers []*ordersv1.CustomFieldAnswer) (converted []CustomAnswer) {
	for _, a := range answers {
		converted = append(converted, CustomAnswer{FieldID: a.GetFieldId(), Text: a.TextValue, Checked: a.Checked}.Normalized())
	}
	return converted
}

// hidden replaces characters. Its length says nothing about how many.
const hidden = "•••"

// Masked returns enough of a recipient for a player to recognise the address, and too little for anybody else to use it.
func (r Recipient) Masked() *ordersv1.OrderRecipient {
	var name []string
	for _, word := range strings.Fields(r.Name) {
		name = append(name, beginning(word, 1))
	}
	email, postalCode := beginning(r.Email, 1), beginning(r.PostalCode, 2)
	return &ordersv1.OrderRecipient{
		Name: strings.Join(name, " "), Phone: hidden + r.Phone[max(0, len(r.Phone)-2):], Email: fields.Optional(&email),
		Address: &ordersv1.OrderAddress{
			Street: beginning(r.Street, 2), City: r.City, PostalCode: fields.Optional(&postalCode), Country: r.Country,
		},
	}
}

// knownDigits is how many digits at the end of a phone number show that somebody knows it.
const knownDigits = 4

// PhoneEndsWith reports whether these are the last four digits of the phone number.
func (r Recipient) PhoneEndsWith(digits string) bool {
	return len(digits) == knownDigits && strings.HasSuffix(r.Phone, digits)
}

// beginning shows n characters of a text, but never more than half of it.
func beginning(text string, n int) string {
	if text == "" {
		return ""
	}
	return string([]rune(text)[:min(n, utf8.RuneCountInString(text)/2)]) + hidden
}
