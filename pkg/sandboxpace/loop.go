package sandboxpace

import (
	"context"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
)

const (
	// maxWait is how long a loop waits that knows of no step, and after a failure. If an instance ends, its steps wait no longer than
	// that for another one.
	maxWait = 10 * time.Second
	// minWait bounds how often a loop looks for steps.
	minWait = 20 * time.Millisecond
)

// Loop runs steps when they are due. Between them it sleeps and does not ask the database.
type Loop struct {
	name  string
	log   *slog.Logger
	woken chan struct{}
}

// NewLoop makes a loop.
func NewLoop(name string, log *slog.Logger) *Loop {
	return &Loop{name: name, log: log, woken: make(chan struct{}, 1)}
}

// Wake tells the loop about a new step. It never waits.
func (l *Loop) Wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// Part runs the loop until its context ends. run makes the steps that are due and returns in how long the next one is due, if
// there is any. Several instances run loops over the same steps, so run must lock those that it makes.
func (l *Loop) Part(run func(ctx context.Context) (next time.Duration, found bool, err error)) daemon.Part {
	return daemon.Part{Name: l.name, Run: func(ctx context.Context) error { return l.loop(ctx, run) }}
}

func (l *Loop) loop(ctx context.Context, run func(ctx context.Context) (next time.Duration, found bool, err error)) error {
	for {
		wait, found, err := run(ctx)
		if err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "steps of the sandbox failed, trying again later", "work", l.name, "error", err)
		}
		if err != nil || !found {
			wait = maxWait
		}
		timer := time.NewTimer(min(max(wait, minWait), maxWait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-l.woken:
			timer.Stop()
		case <-timer.C:
		}
	}
}
