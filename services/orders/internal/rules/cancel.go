package rules

import (
	"time"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const maxCancelReason = 1000

// CheckCancelReason finds the fault of a cancellation's reason.
func CheckCancelReason(reason string, errs *fields.Errors) {
	errs.Required("reason", reason, maxCancelReason)
}

// CancelOrder ends an order that is not on its way yet. Of an order that is cancelled the first
// reason stays.
func CancelOrder(current *Current, reason string, now time.Time) (*Change, error) {
	change, err := current.Apply(Cancel, now, func(next *ordersv1.Order) { next.CancellationReason = &reason })
	if change != nil {
		change.ReleaseStock = true
	}
	return change, err
}
