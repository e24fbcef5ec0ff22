package rules

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Current is an order locked by the transaction that is about to change it.
type Current struct {
	TenantID string
	// Record is what every channel sees. It is never modified: a change works on a copy.
	Record *ordersv1.Order
	// Details decrypts the sealed details.
	Details func() (Details, error)
	// DetailsErased means that the details were erased, and Details fails.
	DetailsErased bool
	// IfMatch is the caller's condition on the record; nil demands nothing.
	IfMatch *caller.Condition
	// StockHold is the id under which catalog holds the order's unit of stock; empty if it holds none.
	StockHold string
}

// Change is the result of an action on an order.
type Change struct {
	// Record is the order's next version; nil if the record does not change, as when a message is posted.
	Record *ordersv1.Order
	// Details replace the sealed ones; nil keeps them.
	Details *Details
	// EraseDetails erases the sealed details.
	EraseDetails bool
	// ReleaseStock returns the unit that the order holds.
	ReleaseStock bool
	// TakeStock is the id under which another unit was reserved for the order; empty if none was.
	TakeStock string
	// Event is recorded with the change.
	Event Event
}

// After returns the record after the change.
func (c *Change) After(before *Current) *ordersv1.Order {
	if c.Record != nil {
		return c.Record
	}
	return before.Record
}

// Event reports a change in the feed and to webhooks. The zero value reports nothing.
type Event struct {
	Type       string
	OccurredAt time.Time
	// Data is the event's payload: a snapshot without personal data.
	Data proto.Message
}

// Apply takes a step of the state machine. edit, which may be nil, makes further changes to the next version; for CorrectStatus
// it sets the chosen status. Apply returns nil if the step does not change the order.
func (c *Current) Apply(action Action, now time.Time, edit func(next *ordersv1.Order)) (*Change, error) {
	step, err := c.admit(action)
	if err != nil {
		return nil, err
	}
	if step.Outcome != Applies {
		return nil, nil //nolint:nilnil // No change and no error.
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

// admit returns the step of the action, if the status and the caller's condition allow it.
func (c *Current) admit(action Action) (Step, error) {
	status := c.Record.GetStatus()
	step := StepOf(action, status)
	if err := step.Err(action, status); err != nil {
		return step, err
	}
	if !c.IfMatch.HasState(caller.OrderState(c.Record)) {
		p := problem.New(problem.PreconditionFailed, "The order has changed since it was read: If-Match does not have its current ETag.")
		p.CurrentStatus = enumname.String(status)
		return step, p
	}
	return step, nil
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

// Later is now, but at least one microsecond after previous: the times of one record's changes grow even if a clock jumps back.
func Later(now, previous time.Time) time.Time {
	if now.After(previous) {
		return now
	}
	return previous.Add(time.Microsecond)
}
