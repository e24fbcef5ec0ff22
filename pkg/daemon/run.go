// Package daemon runs the long-lived parts of a process and its command line, with one contract for starting and stopping.
//
// A part runs until its context ends and then returns nil after finishing what it had begun. A part that returns an error stops
// the others and ends the process. Parts that the others need end last.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Part is one long-lived activity.
type Part struct {
	Name string
	Run  func(ctx context.Context) error
	// Last means that its context ends only after all other parts have returned.
	Last bool
}

// Metrics is the part that answers on the metrics port. It ends last: while the others end, /readyz tells balancers to send no more
// requests. Each of ready returns an error while the service cannot work; it must return quickly.
func Metrics(tel *telemetry.Telemetry, ready ...func(ctx context.Context) error) Part {
	return Part{Name: "metrics", Last: true, Run: func(ctx context.Context) error {
		return tel.Serve(ctx, func(ctx context.Context) error {
			for _, check := range ready {
				if err := check(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}}
}

// Run runs the parts until ctx ends or one of them fails.
func Run(ctx context.Context, log *slog.Logger, parts ...Part) error {
	group, ctx := errgroup.WithContext(ctx)
	lastCtx, stopLast := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLast()
	var others sync.WaitGroup
	for _, part := range parts {
		if part.Last {
			group.Go(func() error { return part.run(lastCtx, log) })
			continue
		}
		others.Add(1)
		group.Go(func() error {
			defer others.Done()
			return part.run(ctx, log)
		})
	}
	group.Go(func() error {
		<-ctx.Done()
		others.Wait()
		stopLast()
		return nil
	})
	return group.Wait()
}

func (p Part) run(ctx context.Context, log *slog.Logger) error {
	err := p.Run(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		log.ErrorContext(ctx, "part failed", "part", p.Name, "error", err)
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if ctx.Err() == nil {
		return fmt.Errorf("%s: %w", p.Name, errEarly)
	}
	return nil
}

var (
	errEarly    = errors.New("ended before it was stopped")
	errInterval = errors.New("the interval must be positive")
)

// Every is a part that does periodic work: immediately, and then after each interval. An error is logged as a warning and the
// next tick tries again. The work of one tick never overlaps with that of the next. A metric counts the ticks by their
// outcome.
func Every(name string, interval time.Duration, tel *telemetry.Telemetry, work func(ctx context.Context) error) Part {
	return Part{Name: name, Run: func(ctx context.Context) error {
		if interval <= 0 {
			return fmt.Errorf("%w: %s", errInterval, interval)
		}
		runs, err := tel.Meters.Meter("github.com/partnergifting/platform/pkg/daemon").Int64Counter("gifting.periodic.runs",
			metric.WithDescription("Ticks of periodic work."))
		if err != nil {
			return err
		}
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			outcome := "succeeded"
			if err := work(ctx); err != nil {
				if ctx.Err() != nil {
					return nil // The shutdown interrupted the work.
				}
				outcome = "failed"
				tel.Logger.WarnContext(ctx, "periodic work failed, trying again at the next tick", "work", name, "error", err)
			}
			runs.Add(ctx, 1, metric.WithAttributes(attribute.String("work", name), attribute.String("outcome", outcome)))
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}}
}

// InBatches repeats work until it handles fewer than size items or fails. Work in batches holds no lock for long.
func InBatches(ctx context.Context, size int, work func(ctx context.Context, limit int) (int, error)) error {
	for {
		if n, err := work(ctx, size); err != nil || n < size {
			return err
		}
	}
}
