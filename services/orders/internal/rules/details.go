package rules

import (
	"strings"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// NewDetails takes what is sealed from a request that has no field errors.
func NewDetails(req *ordersv1.PlaceOrderRequest, answers []CustomAnswer) Details {
	return Details{
		Client:             newPerson(req.GetClient()),
		Recipient:          newRecipient(req.GetRecipient()),
		CourierComment:     req.GetCourierComment(),
		AdditionalDetails:  req.GetAdditionalDetails(),
		Customization:      req.GetCustomization().GetDetails(),
		CustomFieldAnswers: answers,
	}
}

// NewClaimedDetails takes what is sealed from a claim whose recipient has no faults.
func NewClaimedDetails(req *ordersv1.PlaceClaimedOrderRequest) Details {
	d := Details{Client: newPerson(req.GetClient()), Recipient: newRecipient(req.GetRecipient())}
	for _, a := range req.GetCustomFields() {
		d.CustomFieldAnswers = append(d.CustomFieldAnswers, newCustomAnswer(a))
	}
	return d
}

func newPerson(c *ordersv1.OrderClient) Person {
	return Person{Name: c.GetName(), Email: strings.TrimSpace(c.GetEmail())}
}

// newRecipient takes a recipient that CheckRecipient has found without fault.
func newRecipient(r *ordersv1.OrderRecipient) Recipient {
	a := r.GetAddress()
	return Recipient{
		Name:       r.GetName(),
		Phone:      r.GetPhone(),
		Email:      strings.TrimSpace(r.GetEmail()),
		Street:     a.GetStreet(),
		City:       a.GetCity(),
		PostalCode: a.GetPostalCode(),
		Country:    a.GetCountry(),
	}
}
