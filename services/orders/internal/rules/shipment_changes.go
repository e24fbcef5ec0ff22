package rules

import (
	"time"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// DispatchOrder sends an order with its one shipment. The answer is nil when it has been sent with
// this shipment already.
func DispatchOrder(c *Current, s *ordersv1.Shipment, now time.Time) (*Change, error) {
	return setShipment(c, Dispatch, s, now)
}

// CorrectShipment replaces the shipment of an order that is on its way. The answer is nil when it
// has this one.
func CorrectShipment(c *Current, s *ordersv1.Shipment, now time.Time) (*Change, error) {
	return setShipment(c, CorrectTracking, s, now)
}

func setShipment(c *Current, action Action, s *ordersv1.Shipment, now time.Time) (*Change, error) {
	if c.Record.GetStatus() == sent && hasShipment(c.Record, s) {
		return nil, nil //nolint:nilnil // No change and no fault.
	}
	return c.Apply(action, now, func(next *ordersv1.Order) { next.Shipments = []*ordersv1.Shipment{s} })
}
