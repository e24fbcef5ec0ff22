package rules

import (
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// PresentDetails is what those who fulfil an order read of its sealed details.
func PresentDetails(d Details) *ordersv1.DeliveryDetails {
	r := d.Recipient
	out := &ordersv1.DeliveryDetails{
		Client: &ordersv1.OrderClient{Name: d.Client.Name, Email: Optional(&d.Client.Email)},
		Recipient: &ordersv1.OrderRecipient{
			Name: r.Name, Phone: r.Phone, Email: Optional(&r.Email),
			Address: &ordersv1.OrderAddress{
				Street: r.Street, City: r.City, PostalCode: Optional(&r.PostalCode), Country: r.Country,
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
