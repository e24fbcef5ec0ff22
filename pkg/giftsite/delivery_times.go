package giftsite

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	maxDeliveryTimes = 250
	maxBusinessDays  = 60
)

// deliveryTimes validates how long gifts take, by country. field is the path of the list.
func deliveryTimes(field string, times []*tenantsv1.DeliveryTime, errs *fields.Errors) []*tenantsv1.DeliveryTime {
	if len(times) > maxDeliveryTimes {
		errs.Add(field, problem.FieldTooLong, fmt.Sprintf("must have at most %d entries", maxDeliveryTimes))
		return nil
	}
	seen := map[string]bool{}
	for i, d := range times {
		at := fmt.Sprintf("%s[%d].", field, i)
		switch {
		case fields.Blank(d.GetCountry()):
			errs.Add(at+"country", problem.FieldRequired, "is required")
		case !fields.IsCountry(d.GetCountry()):
			errs.Add(at+"country", problem.FieldInvalid, "must be an ISO 3166-1 alpha-2 code in upper case")
		case seen[d.GetCountry()]:
			errs.Add(at+"country", problem.FieldDuplicate, "is already in the list")
		}
		seen[d.GetCountry()] = true
		checkBusinessDays(at+"minBusinessDays", d.GetMinBusinessDays(), errs)
		checkBusinessDays(at+"maxBusinessDays", d.GetMaxBusinessDays(), errs)
		if d.GetMaxBusinessDays() < d.GetMinBusinessDays() {
			errs.Add(at+"maxBusinessDays", problem.FieldInvalid, "must not be less than minBusinessDays")
		}
	}
	return times
}

func checkBusinessDays(field string, days int32, errs *fields.Errors) {
	if days < 1 || days > maxBusinessDays {
		errs.Add(field, problem.FieldInvalid, fmt.Sprintf("must be from 1 to %d", maxBusinessDays))
	}
}
