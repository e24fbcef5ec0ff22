package rules

import (
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const phoneDigits = 4

// CheckPhoneDigits finds the errors of what a player enters to reopen a claimed gift. Such an entry does not count as a try.
func CheckPhoneDigits(digits string, errs *fields.Errors) {
	switch {
	case digits == "":
		errs.Add("phoneDigits", problem.FieldRequired, "is required")
	case len(digits) != phoneDigits || strings.Trim(digits, "0123456789") != "":
		errs.Add("phoneDigits", problem.FieldInvalid, "must be four digits")
	}
}

// HideFromOthers removes from the order of a claimed link what only the form that made the claim may see.
func HideFromOthers(found *ordersv1.GetClaimedOrderResponse) {
	found.MaskedRecipient, found.Thanks, found.AcceptsThanks, found.Customization = nil, "", false, ""
}
