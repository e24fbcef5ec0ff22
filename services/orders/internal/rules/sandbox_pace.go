package rules

import (
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/sandboxpace"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// AutoAdvance is how an order of the sandbox advances by itself: one step after each interval, until it has the status Stop.
type AutoAdvance struct {
	// Every is in whole seconds.
	Every time.Duration
	Stop  ordersv1.OrderStatus
}

// AutoAdvanceOf returns the pace that externalActionRef sets, or nil if it sets none. An error in it is added to errs.
func AutoAdvanceOf(externalActionRef string, errs *fields.Errors) *AutoAdvance {
	d, err := sandboxpace.Parse(externalActionRef, enumname.Strings([]ordersv1.OrderStatus{processing, sent, completed})...)
	if err != nil {
		errs.Add("externalActionRef", problem.FieldInvalid, err.Error())
	}
	if d == nil {
		return nil
	}
	p := &AutoAdvance{Every: d.Pace, Stop: completed}
	if d.Stop != "" {
		p.Stop, _ = enumname.Parse[ordersv1.OrderStatus](d.Stop)
	}
	return p
}

// Ends reports whether an order does not advance beyond the status.
func (a AutoAdvance) Ends(status ordersv1.OrderStatus) bool {
	return slices.Index(Statuses(), status) >= slices.Index(Statuses(), a.Stop)
}

// autoSteps are the operations by which an order advances, by its status.
var autoSteps = map[ordersv1.OrderStatus]ordersv1.Operation{
	requested:  ordersv1.Operation_OPERATION_APPROVE,
	processing: ordersv1.Operation_OPERATION_DISPATCH,
	sent:       ordersv1.Operation_OPERATION_DELIVER,
}

// Advance takes the next step of an order towards COMPLETED.
func (c *Current) Advance(now time.Time) (*Change, ordersv1.Operation, error) {
	op := autoSteps[c.Record.GetStatus()]
	var change *Change
	var err error
	switch op {
	case ordersv1.Operation_OPERATION_APPROVE:
		change, err = c.Apply(Approve, now, nil)
	case ordersv1.Operation_OPERATION_DISPATCH:
		change, err = DispatchOrder(c, madeUpShipment(c.Record.GetId()), now)
	default:
		change, err = c.Apply(Deliver, now, nil)
	}
	return change, op, err
}
