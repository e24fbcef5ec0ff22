package rules

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// CorrectDeliveryOf merges a correction into an order (API specification, POST /orders/{orderId}:update-delivery). errs holds
// the errors found before. Of several errors the status is reported first, then the caller's condition, the version, the fields and
// the country. It returns nil if the correction changes nothing.
func CorrectDeliveryOf(
	current *Current, req *ordersv1.UpdateDeliveryRequest, now time.Time, errs *fields.Errors,
) (*Change, error) {
	record := current.Record
	if _, err := current.admit(CorrectDelivery); err != nil {
		return nil, err
	}
	if !errs.Has("expectedVersion") && req.ExpectedVersion != nil && req.GetExpectedVersion() != record.GetVersion() {
		return nil, problem.New(problem.VersionConflict,
			"expectedVersion is not the order's version, which is %d.", record.GetVersion())
	}
	stored, err := current.Details()
	if err != nil {
		return nil, err
	}
	merged, err := mergeDelivery(stored, req, errs)
	if err != nil {
		return nil, err
	}
	urgent := record.GetUrgent()
	if req.Urgent != nil {
		urgent = req.GetUrgent()
	}
	if merged.Recipient == stored.Recipient && merged.CourierComment == stored.CourierComment && urgent == record.GetUrgent() {
		return nil, nil //nolint:nilnil // No change and no error.
	}
	change, err := current.Apply(CorrectDelivery, now, func(next *ordersv1.Order) { next.Urgent = urgent })
	if change != nil {
		change.Details = &merged
	}
	return change, err
}

// IsCorrected reports whether a correction of the latest version would change nothing. Then what is sent twice can succeed twice,
// although the first one has made another version.
func IsCorrected(current *Current, req *ordersv1.UpdateDeliveryRequest) bool {
	latest := proto.CloneOf(req)
	if latest.ExpectedVersion != nil {
		latest.ExpectedVersion = proto.Int64(current.Record.GetVersion())
	}
	change, err := CorrectDeliveryOf(current, latest, time.Time{}, &fields.Errors{})
	return change == nil && err == nil
}

// mergeDelivery returns the details with the correction merged in, or its errors.
func mergeDelivery(stored Details, req *ordersv1.UpdateDeliveryRequest, errs *fields.Errors) (Details, error) {
	if req.ExpectedVersion == nil {
		errs.Add("expectedVersion", problem.FieldRequired, "is required")
	}
	recipient := mergeRecipient(stored.Recipient, req.GetRecipient())
	CheckRecipient(recipient, errs)
	errs.Text("courierComment", req.GetCourierComment(), maxCourierComment)
	if err := errs.Err(); err != nil {
		return stored, err
	}
	if recipient.GetAddress().GetCountry() != stored.Recipient.Country {
		return stored, problem.New(problem.CountryChangeNotAllowed, "A correction cannot move the delivery to another country.")
	}
	merged := stored
	merged.Recipient = newRecipient(recipient)
	if req.CourierComment != nil {
		merged.CourierComment = fields.UnlessBlank(req.GetCourierComment())
	}
	return merged, nil
}

// mergeRecipient replaces each stored member by the one that was sent. A blank e-mail or postal code keeps the stored one; the
// check refuses other blanks.
func mergeRecipient(stored Recipient, c *ordersv1.DeliveryCorrection) *ordersv1.OrderRecipient {
	a := c.GetAddress()
	if a == nil {
		a = &ordersv1.AddressCorrection{}
	}
	if c == nil {
		c = &ordersv1.DeliveryCorrection{}
	}
	email := correctedUnlessBlank(stored.Email, c.GetEmail())
	postalCode := correctedUnlessBlank(stored.PostalCode, a.GetPostalCode())
	return &ordersv1.OrderRecipient{
		Name:  corrected(stored.Name, c.Name),
		Phone: corrected(stored.Phone, c.Phone),
		Email: &email,
		Address: &ordersv1.OrderAddress{
			Street:     corrected(stored.Street, a.Street),
			City:       corrected(stored.City, a.City),
			PostalCode: &postalCode,
			Country:    corrected(stored.Country, a.Country),
		},
	}
}

func correctedUnlessBlank(stored, correction string) string {
	if fields.Blank(correction) {
		return stored
	}
	return correction
}

func corrected(stored string, correction *string) string {
	if correction == nil {
		return stored
	}
	return *correction
}
