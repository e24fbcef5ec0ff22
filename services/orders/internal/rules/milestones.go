package rules

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// StatusChange is a change of an order's status in its audit.
type StatusChange struct {
	At            *timestamppb.Timestamp
	Before, After ordersv1.OrderStatus
}

// Milestones are when an order was sent and delivered; nil for what has not happened.
type Milestones struct {
	SentAt, DeliveredAt *timestamppb.Timestamp
}

// MilestonesOf returns the milestones after all changes of an order's status, the oldest first. What a correction has undone has not
// happened.
func MilestonesOf(changes []StatusChange) (m Milestones) {
	for _, c := range changes {
		switch {
		case keepsShipment(c.Before, c.After):
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
