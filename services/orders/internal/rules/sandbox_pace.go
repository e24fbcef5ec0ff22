package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Pace is how an order of the sandbox goes on by itself: one step after each interval, until it has the status Stop.
type Pace struct {
	// Every is in whole seconds.
	Every time.Duration
	Stop  ordersv1.OrderStatus
}

const (
	autoPrefix = "sandbox:auto"
	usualPace  = 2 * time.Second
	maxPace    = time.Hour
)

// directive is what externalActionRef begins with. Text of the caller may follow a space.
var directive = regexp.MustCompile(`^sandbox:auto(?:=([1-9][0-9]{0,3})([smh]))?(?:,stop=(PROCESSING|SENT|COMPLETED))?(?:\s|$)`)

// PaceOf returns the pace that externalActionRef sets, or nil if it sets none. An error in it is added to errs.
func PaceOf(externalActionRef string, errs *fields.Errors) *Pace {
	if !strings.HasPrefix(externalActionRef, autoPrefix) {
		return nil
	}
	p := &Pace{Every: usualPace, Stop: completed}
	parts := directive.FindStringSubmatch(externalActionRef)
	if parts != nil && parts[1] != "" {
		p.Every, _ = time.ParseDuration(parts[1] + parts[2]) // The expression allows only durations.
	}
	if parts == nil || p.Every > maxPace {
		errs.Add("externalActionRef", problem.FieldInvalid, "must be sandbox:auto, with a pace from 1s to 1h and a status "+
			"to stop at if you like, such as sandbox:auto=10s,stop=SENT; text of your own may follow a space")
		return nil
	}
	if parts[3] != "" {
		p.Stop, _ = enumname.Parse[ordersv1.OrderStatus](parts[3])
	}
	return p
}

// Ends reports whether an order in the status goes no further by itself.
func (p Pace) Ends(status ordersv1.OrderStatus) bool {
	return slices.Index(Statuses(), status) >= slices.Index(Statuses(), p.Stop)
}

// autoSteps are the operations by which an order goes on, by its status.
var autoSteps = map[ordersv1.OrderStatus]ordersv1.Operation{
	requested:  ordersv1.Operation_OPERATION_APPROVE,
	processing: ordersv1.Operation_OPERATION_DISPATCH,
	sent:       ordersv1.Operation_OPERATION_DELIVER,
}

// GoOn takes the next step of an order towards COMPLETED.
func (c *Current) GoOn(now time.Time) (*Change, ordersv1.Operation, error) {
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
