package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Lengths in Unicode code points. The requests of the service operator have the same limits as those of the sandbox.
var (
	maxCarrier           = fields.MaxLength(&ordersv1.DispatchSandboxOrderRequest{}, "carrier")
	maxTrackingReference = fields.MaxLength(&ordersv1.DispatchSandboxOrderRequest{}, "trackingReference")
	maxTrackingURL       = fields.MaxLength(&ordersv1.DispatchSandboxOrderRequest{}, "trackingUrl")
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

// ShipmentMembers are those of a shipment, each optional. A blank one counts as absent.
type ShipmentMembers interface {
	GetCarrier() string
	GetTrackingReference() string
	GetTrackingUrl() string
}

// SandboxShipment is the shipment of an order that the sandbox dispatches. Absent members are made up, the same each time, so
// that a repeated dispatch finds its shipment.
func SandboxShipment(orderID string, members ShipmentMembers, errs *fields.Errors) *ordersv1.Shipment {
	return withMembers(madeUpShipment(orderID), members, errs)
}

// SandboxCorrection is the next shipment of an order. Absent members keep their value. If all are absent, the shipment gets
// another tracking reference and URL.
func SandboxCorrection(order *ordersv1.Order, members ShipmentMembers, errs *fields.Errors) *ordersv1.Shipment {
	current := &ordersv1.Shipment{}
	if len(order.GetShipments()) > 0 {
		current = proto.CloneOf(order.GetShipments()[0])
	}
	next := madeUpShipment(order.GetId() + current.GetTrackingReference())
	if anySent(members) && len(order.GetShipments()) > 0 {
		next = current
	}
	return withMembers(next, members, errs)
}

func anySent(m ShipmentMembers) bool {
	return !fields.Blank(m.GetCarrier()) || !fields.Blank(m.GetTrackingReference()) || !fields.Blank(m.GetTrackingUrl())
}

func withMembers(s *ordersv1.Shipment, members ShipmentMembers, errs *fields.Errors) *ordersv1.Shipment {
	for _, member := range []struct {
		into *string
		sent string
	}{
		{&s.Carrier, members.GetCarrier()},
		{&s.TrackingReference, members.GetTrackingReference()},
		{&s.TrackingUrl, members.GetTrackingUrl()},
	} {
		if !fields.Blank(member.sent) {
			*member.into = member.sent
		}
	}
	checkShipmentAt("", s, errs)
	return s
}

// madeUpShipment reads like a real one. Its tracking URL is in a reserved domain.
func madeUpShipment(seed string) *ordersv1.Shipment {
	const digits = 10_000_000_000_000
	sum := sha256.Sum256([]byte(seed))
	reference := fmt.Sprintf("0037350%013d", binary.BigEndian.Uint64(sum[:])%digits)
	return &ordersv1.Shipment{
		Carrier: "PostNord", TrackingReference: reference, TrackingUrl: "https://tracking.example.com/" + reference,
	}
}
