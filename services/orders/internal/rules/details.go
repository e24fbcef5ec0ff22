package rules

import (
	"strings"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// NewDetails takes what is sealed from a request that has no field errors.
func NewDetails(req *ordersv1.PlaceOrderRequest, answers []CustomAnswer) Details {
	r, a := req.GetRecipient(), req.GetRecipient().GetAddress()
	phone, _ := Phone(r.GetPhone())
	return Details{
		Client: Person{Name: req.GetClient().GetName(), Email: strings.TrimSpace(req.GetClient().GetEmail())},
		Recipient: Recipient{
			Name:       r.GetName(),
			Phone:      phone,
			Email:      strings.TrimSpace(r.GetEmail()),
			Street:     a.GetStreet(),
			City:       a.GetCity(),
			PostalCode: a.GetPostalCode(),
			Country:    a.GetCountry(),
		},
		CourierComment:     req.GetCourierComment(),
		AdditionalDetails:  req.GetAdditionalDetails(),
		Customization:      req.GetCustomization().GetDetails(),
		CustomFieldAnswers: answers,
	}
}
