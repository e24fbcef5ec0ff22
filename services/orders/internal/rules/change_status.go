package rules

import (
	"time"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// CheckStatusCorrection finds every error in the target of a correction. A reason is for CANCELLED only.
func CheckStatusCorrection(target ordersv1.OrderStatus, reason string, errs *fields.Errors) {
	switch target {
	case requested, processing, sent, completed:
		if !fields.Blank(reason) {
			errs.Add("reason", problem.FieldInvalid, "is only for CANCELLED")
		}
	case cancelled:
		CheckCancelReason(reason, errs)
	default:
		errs.Add("status", problem.FieldRequired, "is required")
	}
}

// Reopens says whether setting the status takes a cancelled order back into life, so that it needs
// its unit of stock again.
func Reopens(current, target ordersv1.OrderStatus) bool {
	return current == cancelled && target != cancelled
}

// CorrectOrderStatus sets any status. takeStock is the id under which a unit was reserved for an
// order that reopens, or empty. The answer is nil when the order has the status.
func CorrectOrderStatus(c *Current, target ordersv1.OrderStatus, reason, takeStock string, now time.Time) (*Change, error) {
	status := c.Record.GetStatus()
	if target == status {
		return nil, nil //nolint:nilnil // No change and no error.
	}
	if c.DetailsErased && target != completed && target != cancelled {
		p := problem.New(problem.NotEditable, "The delivery details have been erased: the order can only be COMPLETED or CANCELLED.")
		p.CurrentStatus = enumname.String(status)
		return nil, p
	}
	change, err := c.Apply(CorrectStatus, now, func(next *ordersv1.Order) {
		next.Status = target
		next.CancellationReason = fields.Optional(&reason)
		if !keepsShipment(status, target) {
			next.Shipments = nil
		}
	})
	if err == nil {
		change.ReleaseStock, change.TakeStock = target == cancelled, takeStock
	}
	return change, err
}

// keepsShipment: a correction that leaves SENT empties the shipments, and an order that is neither
// SENT nor COMPLETED has none.
func keepsShipment(from, target ordersv1.OrderStatus) bool {
	return from == completed && target == sent
}

const maxCancelReason = 1000

// CheckCancelReason finds the error of a cancellation's reason.
func CheckCancelReason(reason string, errs *fields.Errors) {
	errs.Required("reason", reason, maxCancelReason)
}

// CancelOrder ends an order that is not on its way yet. Of an order that is cancelled the first reason stays.
func CancelOrder(current *Current, reason string, now time.Time) (*Change, error) {
	change, err := current.Apply(Cancel, now, func(next *ordersv1.Order) { next.CancellationReason = &reason })
	if change != nil {
		change.ReleaseStock = true
	}
	return change, err
}
