package rules

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// CheckStatusCorrection finds every error in the target of a correction. Only CANCELLED has a reason.
func CheckStatusCorrection(target ordersv1.OrderStatus, reason string, errs *fields.Errors) {
	switch target {
	case requested, processing, sent, completed:
		if !fields.Blank(reason) {
			errs.Add("reason", problem.FieldInvalid, "is allowed only for CANCELLED")
		}
	case cancelled:
		CheckCancelReason(reason, errs)
	default:
		errs.Add("status", problem.FieldRequired, "is required")
	}
}

// Reopens reports whether the new status reopens a cancelled order, which then needs its unit of stock again.
func Reopens(current, target ordersv1.OrderStatus) bool {
	return current == cancelled && target != cancelled
}

// CorrectOrderStatus sets any status. takeStock is the id under which a unit was reserved for an order that reopens, or empty.
// It returns nil if the order already has the status.
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
		if target == requested || target == processing {
			next.Shipments = nil // It was not sent after all.
		}
	})
	if err == nil {
		change.ReleaseStock, change.TakeStock = target == cancelled, takeStock
	}
	return change, err
}

var maxCancelReason = fields.MaxLength(&ordersv1.CancelOrderRequest{}, "reason")

// CheckCancelReason finds the error of a cancellation's reason.
func CheckCancelReason(reason string, errs *fields.Errors) {
	errs.RequiredText("reason", reason, maxCancelReason)
}

// CancelOrder cancels an order that has not been sent. A cancelled order keeps its first reason.
func CancelOrder(current *Current, reason string, now time.Time) (*Change, error) {
	change, err := current.Apply(Cancel, now, func(next *ordersv1.Order) { next.CancellationReason = &reason })
	if change != nil {
		change.ReleaseStock = true
	}
	return change, err
}

// StatusChange is a change of an order's status in its audit.
type StatusChange struct {
	At            *timestamppb.Timestamp
	Before, After ordersv1.OrderStatus
}

// Milestones are when an order was sent and delivered; nil for what has not happened.
type Milestones struct {
	SentAt, DeliveredAt *timestamppb.Timestamp
}

// MilestonesOf returns the milestones after all changes of an order's status, the oldest first. What a correction has undone has
// not happened.
func MilestonesOf(changes []StatusChange) (m Milestones) {
	for _, c := range changes {
		switch {
		case c.Before == completed && c.After == sent:
			m.DeliveredAt = nil
		case c.After == sent:
			m = Milestones{SentAt: c.At}
		case c.After == completed:
			m.DeliveredAt = c.At
		default:
			m = Milestones{}
		}
	}
	return m
}
