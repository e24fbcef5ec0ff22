package rules

import (
	"time"

	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Erased replaces an erased text that may not be empty.
const Erased = "[erased]"

// InFlight reports whether an order still has to be delivered. Its details are needed until then.
func InFlight(status ordersv1.OrderStatus) bool {
	return StepOf(Erase, status).Outcome == Refused
}

// ErasePersonalData erases what the order says about a person: the details, free texts, the integrator's references to the person
// and to the person's action, and the shipment, because its tracking URL shows the address. What was ordered, for how much and
// when remains. It returns nil if nothing is left to erase.
func ErasePersonalData(c *Current, now time.Time) (*Change, error) {
	change, err := c.Apply(Erase, now, func(next *ordersv1.Order) { erase(next) })
	if err != nil {
		return nil, err
	}
	if erased := proto.CloneOf(c.Record); !erase(erased) {
		// Nobody sees a change of the details alone, so it has no version and no event.
		change.Record, change.Event = nil, Event{}
	}
	change.EraseDetails = !c.DetailsErased
	if change.Record == nil && !change.EraseDetails {
		return nil, nil //nolint:nilnil // No change and no error.
	}
	return change, nil
}

func erase(o *ordersv1.Order) (changed bool) {
	before := proto.CloneOf(o)
	for _, text := range recordTexts {
		if text.ofPerson {
			*text.target(o) = nil
		}
	}
	o.Shipments = nil
	if o.CancellationReason != nil {
		o.CancellationReason = new(Erased)
	}
	if item := o.GetItems()[0]; item.GetKind() == ordersv1.ItemKind_ITEM_KIND_CUSTOM {
		item.ProductName = Erased
	}
	return !proto.Equal(before, o)
}

// EraseInAnswer erases what the order in a stored answer says about a person. As in its erased events, a reference to the person
// becomes the text Erased.
func EraseInAnswer(o *ordersv1.Order) (changed bool) {
	before := proto.CloneOf(o)
	erase(o)
	for _, text := range recordTexts {
		if text.ofPerson && *text.target(before) != nil {
			*text.target(o) = new(Erased)
		}
	}
	return !proto.Equal(before, o)
}

// staleReason is the reason of a cancellation by CloseStale.
const staleReason = "The order was not completed within the retention time of open orders."

// CloseStale ends an order that nobody has worked on for the retention time and erases its details. An order that was not sent
// is cancelled, because nobody could deliver it without its details. A sent order stays SENT.
func CloseStale(c *Current, now time.Time) (*Change, error) {
	change := &Change{}
	if StepOf(Cancel, c.Record.GetStatus()).Outcome == Applies {
		var err error
		if change, err = CancelOrder(c, staleReason, now); err != nil {
			return nil, err
		}
	}
	change.EraseDetails = true
	return change, nil
}
