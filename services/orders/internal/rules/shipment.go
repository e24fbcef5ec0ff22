package rules

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Lengths of a shipment's fields in Unicode code points.
const (
	maxCarrier           = 100
	maxTrackingReference = 128
	maxTrackingURL       = 2048
)

// CheckShipment finds every error in a shipment.
func CheckShipment(s *ordersv1.Shipment, errs *fields.Errors) {
	const at = "shipment"
	if s == nil {
		errs.Add(at, problem.FieldRequired, "is required")
		return
	}
	checkShipmentAt(at+".", s, errs)
}

// checkShipmentAt finds every error in a shipment whose members have a prefix in the request.
func checkShipmentAt(prefix string, s *ordersv1.Shipment, errs *fields.Errors) {
	errs.Required(prefix+"carrier", s.GetCarrier(), maxCarrier)
	errs.Required(prefix+"trackingReference", s.GetTrackingReference(), maxTrackingReference)
	errs.Required(prefix+"trackingUrl", s.GetTrackingUrl(), maxTrackingURL)
	errs.URL(prefix+"trackingUrl", s.GetTrackingUrl(), maxTrackingURL, "https")
}

func hasShipment(o *ordersv1.Order, s *ordersv1.Shipment) bool {
	return len(o.GetShipments()) == 1 && proto.Equal(o.GetShipments()[0], s)
}

// DispatchOrder sends an order with its one shipment. It returns nil if it was already sent with this shipment.
func DispatchOrder(c *Current, s *ordersv1.Shipment, now time.Time) (*Change, error) {
	return setShipment(c, Dispatch, s, now)
}

// CorrectShipment replaces the shipment of an order that is on its way. It returns nil if the order already has this shipment.
func CorrectShipment(c *Current, s *ordersv1.Shipment, now time.Time) (*Change, error) {
	return setShipment(c, CorrectTracking, s, now)
}

func setShipment(c *Current, action Action, s *ordersv1.Shipment, now time.Time) (*Change, error) {
	if c.Record.GetStatus() == sent && hasShipment(c.Record, s) {
		return nil, nil //nolint:nilnil // No change and no error.
	}
	return c.Apply(action, now, func(next *ordersv1.Order) { next.Shipments = []*ordersv1.Shipment{s} })
}
