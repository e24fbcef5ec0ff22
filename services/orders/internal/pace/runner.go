// Package pace lets orders of the sandbox go on by themselves. When the next step of an order is due is a row in the database, so
// the steps go on after a restart, and any instance can take them.
//
// A Runner waits until the next step is due. It is woken when its instance has placed another order. The orders of an instance
// that has ended are found within a minute.
package pace

import (
	"context"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	batch = 100
	// idle is how often a runner looks for the orders of other instances.
	idle = time.Minute
	// least is the shortest wait: a step that is due while another instance takes it.
	least = 10 * time.Millisecond
	retry = 5 * time.Second
)

// Deps are what a Runner works with.
type Deps struct {
	Store *store.Store
	// GoOn takes the due step of an order.
	GoOn func(ctx context.Context, due store.Due) error
	// Changed is called after steps, which have recorded events.
	Changed func()
	Log     *slog.Logger
}

// Runner takes the steps that are due.
type Runner struct {
	Deps

	woken chan struct{}
}

// New makes a runner.
func New(deps Deps) *Runner { return &Runner{Deps: deps, woken: make(chan struct{}, 1)} }

// Wake says that an order was placed that goes on by itself. It never waits.
func (r *Runner) Wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// Part is the runner as a part of its service.
func (r *Runner) Part() daemon.Part { return daemon.Part{Name: "sandbox paces", Run: r.run} }

func (r *Runner) run(ctx context.Context) error {
	for {
		wait, err := r.Tick(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "steps of the sandbox", "error", err)
			wait = retry
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-r.woken:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// Tick takes the steps that are due, and returns how long to wait for the next one.
func (r *Runner) Tick(ctx context.Context) (wait time.Duration, err error) {
	due, err := r.Store.DuePaces(ctx, batch)
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		if err := r.GoOn(ctx, d); err != nil {
			r.Log.WarnContext(ctx, "step of an order in the sandbox", "order", d.OrderID, "error", err)
			// Other orders are not delayed by one that fails.
			if err := r.Store.PostponePace(ctx, d.OrderID); err != nil {
				return 0, err
			}
		}
	}
	if len(due) > 0 {
		r.Changed()
	}
	wait, found, err := r.Store.NextPace(ctx)
	if !found {
		wait = idle
	}
	return min(max(wait, least), idle), err
}
