package rules

import "github.com/partnergifting/platform/pkg/fields"

const maxReason = 1000

// CheckReason demands the reason of a cancellation.
func CheckReason(reason string, errs *fields.Errors) {
	errs.Required("reason", reason, maxReason)
}
