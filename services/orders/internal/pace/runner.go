// Package pace lets orders of the sandbox advance by themselves. A row in the database says when the next step of an order is due.
// So the steps continue after a restart, and any instance can take them.
package pace

import (
	"context"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/services/orders/internal/store"
)

const batch = 100

// Runner takes the steps that are due.
type Runner struct {
	Store *store.Store
	// Advance takes the due step of an order.
	Advance func(ctx context.Context, due store.Due) error
	// Changed is called after steps, which have recorded events.
	Changed func()
	Log     *slog.Logger
}

// Run takes the steps that are due, and returns how long to wait for the next one.
func (r *Runner) Run(ctx context.Context) (wait time.Duration, found bool, err error) {
	due, err := r.Store.DueAdvances(ctx, batch)
	if err != nil {
		return 0, false, err
	}
	for _, d := range due {
		if err := r.Advance(ctx, d); err != nil {
			r.Log.WarnContext(ctx, "cannot take the step of a sandbox order, trying again", "order", d.OrderID, "error", err)
			// Other orders are not delayed by one that fails.
			if err := r.Store.PostponeAdvance(ctx, d); err != nil {
				return 0, false, err
			}
		}
	}
	if len(due) > 0 {
		r.Changed()
	}
	return r.Store.NextAdvance(ctx)
}
