// Package daemon runs the long-lived parts of a process and its command line: the one contract of
// starting and stopping.
//
// A part runs until its context ends and then returns nil after finishing what it had begun. A
// part that returns an error stops the others and ends the process.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"
)

// Part is one long-lived activity.
type Part struct {
	Name string
	Run  func(ctx context.Context) error
}

// Run runs the parts until ctx ends or one of them fails.
func Run(ctx context.Context, log *slog.Logger, parts ...Part) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range parts {
		group.Go(func() error {
			err := part.Run(ctx)
			if err != nil && !errors.Is(err, context.Canceled) {
				log.ErrorContext(ctx, "part failed", "part", part.Name, "error", err)
				return fmt.Errorf("%s: %w", part.Name, err)
			}
			if ctx.Err() == nil {
				return fmt.Errorf("%s: %w", part.Name, errEarly)
			}
			return nil
		})
	}
	return group.Wait()
}

var errEarly = errors.New("ended although nobody asked it to")
