package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// ShipmentMembers are those of a shipment, each optional. A blank one counts as absent.
type ShipmentMembers interface {
	GetCarrier() string
	GetTrackingReference() string
	GetTrackingUrl() string
}

// SandboxShipment is the shipment of an order that the sandbox dispatches. Absent members are made up, the same each time, so
// that a repeated dispatch finds its shipment.
func SandboxShipment(orderID string, members ShipmentMembers, errs *fields.Errors) *ordersv1.Shipment {
	return overwritten(madeUpShipment(orderID), members, errs)
}

// SandboxCorrection is the next shipment of an order. Absent members keep their value. If all are absent, the shipment gets
// another tracking reference and address.
func SandboxCorrection(order *ordersv1.Order, members ShipmentMembers, errs *fields.Errors) *ordersv1.Shipment {
	current := &ordersv1.Shipment{}
	if len(order.GetShipments()) > 0 {
		current = proto.CloneOf(order.GetShipments()[0])
	}
	next := madeUpShipment(order.GetId() + current.GetTrackingReference())
	if present(members) && len(order.GetShipments()) > 0 {
		next = current
	}
	return overwritten(next, members, errs)
}

func present(m ShipmentMembers) bool {
	return !fields.Blank(m.GetCarrier()) || !fields.Blank(m.GetTrackingReference()) || !fields.Blank(m.GetTrackingUrl())
}

func overwritten(s *ordersv1.Shipment, members ShipmentMembers, errs *fields.Errors) *ordersv1.Shipment {
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

// madeUpShipment reads like a real one. Its address is in a domain that nobody can own.
func madeUpShipment(seed string) *ordersv1.Shipment {
	const digits = 10_000_000_000_000
	sum := sha256.Sum256([]byte(seed))
	reference := fmt.Sprintf("0037350%013d", binary.BigEndian.Uint64(sum[:])%digits)
	return &ordersv1.Shipment{
		Carrier: "PostNord", TrackingReference: reference, TrackingUrl: "https://tracking.example.com/" + reference,
	}
}
