package rules

import (
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Action is what an actor does to an order.
type Action string

// The actions. Reading is always allowed and changes nothing.
const (
	Approve         Action = "approve"
	Dispatch        Action = "dispatch"
	Deliver         Action = "deliver"
	CorrectDelivery Action = "correct delivery"
	CorrectTracking Action = "correct tracking"
	CorrectStatus   Action = "correct status"
	Cancel          Action = "cancel"
	PostMessage     Action = "post message"
	AddNote         Action = "add internal note"
	Erase           Action = "erase personal data"
)

// Actions lists all actions in the order of the documentation.
func Actions() []Action {
	return []Action{
		Approve, Dispatch, Deliver, CorrectDelivery, CorrectTracking, CorrectStatus, Cancel, PostMessage, AddNote, Erase,
	}
}

// Statuses lists every status an order can have, in the order it passes through them.
func Statuses() []ordersv1.OrderStatus {
	return []ordersv1.OrderStatus{requested, processing, sent, completed, cancelled}
}

const (
	requested  = ordersv1.OrderStatus_ORDER_STATUS_REQUESTED
	processing = ordersv1.OrderStatus_ORDER_STATUS_PROCESSING
	sent       = ordersv1.OrderStatus_ORDER_STATUS_SENT
	completed  = ordersv1.OrderStatus_ORDER_STATUS_COMPLETED
	cancelled  = ordersv1.OrderStatus_ORDER_STATUS_CANCELLED
)

// Types of the events of orders (API specification, section Events).
const (
	EventCreated       = "order.created"
	EventStatusChanged = "order.status_changed"
	EventUpdated       = "order.updated"
	EventMessagePosted = "order.message_posted"
)

// Outcome of an action.
type Outcome int

// The outcomes.
const (
	// Applies means that the order gets the step's status and the step's event is recorded. An action that changes no field
	// records nothing.
	Applies Outcome = iota + 1
	// Unchanged means that the call succeeds, changes nothing and records nothing.
	Unchanged
	// Refused means that the step's problem is returned.
	Refused
)

// Step is what an action does to an order in a status.
type Step struct {
	Outcome Outcome
	// Next is the next status. If unspecified, the status does not change, or the actor chooses it (CorrectStatus).
	Next ordersv1.OrderStatus
	// Event is the type of the recorded event; empty if there is none.
	Event string
	// Problem is the code of a refusal.
	Problem problem.Code
}

func to(next ordersv1.OrderStatus) Step {
	return Step{Outcome: Applies, Next: next, Event: EventStatusChanged}
}

func records(event string) Step   { return Step{Outcome: Applies, Event: event} }
func unchanged() Step             { return Step{Outcome: Unchanged} }
func refused(c problem.Code) Step { return Step{Outcome: Refused, Problem: c} }
func always(s Step) (a [5]Step)   { return [5]Step{s, s, s, s, s} }
func notEditable() Step           { return refused(problem.NotEditable) }
func notCancellable() Step        { return refused(problem.NotCancellable) }

// states is the state machine of an order: for each action one step per status, in the order of Statuses. Placing is not in it:
// FirstStatus is the first status.
var states = map[Action][5]Step{
	// REQUESTED, PROCESSING, SENT, COMPLETED, CANCELLED
	Approve:         {to(processing), unchanged(), notEditable(), notEditable(), notEditable()},
	Dispatch:        {notEditable(), to(sent), notEditable(), notEditable(), notEditable()},
	Deliver:         {notEditable(), notEditable(), to(completed), unchanged(), notEditable()},
	CorrectDelivery: {notEditable(), records(EventUpdated), notEditable(), notEditable(), notEditable()},
	CorrectTracking: {notEditable(), notEditable(), records(EventUpdated), notEditable(), notEditable()},
	CorrectStatus:   always(records(EventStatusChanged)),
	Cancel:          {to(cancelled), to(cancelled), notCancellable(), notCancellable(), unchanged()},
	PostMessage:     always(records(EventMessagePosted)),
	AddNote:         always(records("")),
	Erase:           {notEditable(), notEditable(), notEditable(), records(EventUpdated), records(EventUpdated)},
}

// StepOf returns the step of an action in a status.
func StepOf(action Action, status ordersv1.OrderStatus) Step {
	for i, s := range Statuses() {
		if s == status {
			return states[action][i]
		}
	}
	return Step{}
}

// Err returns the problem of a refusal, and nil for other steps. status is the order's.
func (s Step) Err(action Action, status ordersv1.OrderStatus) error {
	if s.Outcome != Refused {
		return nil
	}
	p := problem.New(s.Problem, "An order that is %s does not allow this action: %s.", enumname.String(status), action)
	p.CurrentStatus = enumname.String(status)
	return p
}
