package rules

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Current is an order as it stands, held by the transaction that is about to change it.
type Current struct {
	TenantID string
	// Record is what every channel sees. Nobody changes it: a change works on a copy.
	Record *ordersv1.Order
	// Details opens what only those who fulfil the order see.
	Details func() (Details, error)
	// DetailsErased: their retention has passed, and Details opens nothing any more.
	DetailsErased bool
	// StockHold is the id under which catalog holds the order's unit; empty: it holds none.
	StockHold string
}

// Change is what an action makes of an order.
type Change struct {
	// Record is the order's next version; nil: the record stays, as when a message is posted.
	Record *ordersv1.Order
	// Details replace the sealed ones; nil: they stay.
	Details *Details
	// ReleaseStock gives back the unit the order holds.
	ReleaseStock bool
	// TakeStock is the id under which a unit was reserved for the order anew; empty: none was.
	TakeStock string
	// Event is recorded with the change.
	Event Event
}

// Event is what a change tells those who follow the order. The zero value tells nothing.
type Event struct {
	Type       string
	OccurredAt time.Time
	// Data is the event's payload: a snapshot without personal data.
	Data proto.Message
}

// Apply takes a step of the state machine. edit, which may be nil, makes further changes to the
// next version; for CorrectStatus it sets the chosen status. The answer is nil when the step leaves
// the order as it is.
func (c *Current) Apply(action Action, now time.Time, edit func(next *ordersv1.Order)) (*Change, error) {
	status := c.Record.GetStatus()
	step := StepOf(action, status)
	if err := step.Err(action, status); err != nil {
		return nil, err
	}
	if step.Outcome != Applies {
		return nil, nil //nolint:nilnil // No change and no fault.
	}
	next := c.next(now)
	if step.Next != ordersv1.OrderStatus_ORDER_STATUS_UNSPECIFIED {
		next.Status = step.Next
	}
	if edit != nil {
		edit(next)
	}
	return &Change{Record: next, Event: c.eventOf(step, next)}, nil
}

// next is a copy of the record with the version and time of its next change.
func (c *Current) next(now time.Time) *ordersv1.Order {
	next := proto.CloneOf(c.Record)
	next.Version++
	next.UpdatedAt = timestamppb.New(Later(now, c.Record.GetUpdatedAt().AsTime()))
	return next
}

func (c *Current) eventOf(step Step, next *ordersv1.Order) Event {
	e := Event{Type: step.Event, OccurredAt: next.GetUpdatedAt().AsTime(), Data: next}
	if step.Event == EventStatusChanged {
		e.Data = &ordersv1.OrderStatusChanged{Order: next, PreviousStatus: c.Record.GetStatus()}
	}
	return e
}

// Later is now, or the microsecond after previous if the clock has not passed that: of one record a
// later change has a later time although clocks jump.
func Later(now, previous time.Time) time.Time {
	if now.After(previous) {
		return now
	}
	return previous.Add(time.Microsecond)
}
