package daemon

import (
	"context"
	"log/slog"
	"time"
)

// Every is a part that does periodic work: at once, and then each interval. An error is logged as a warning and the next
// tick tries again. The work of one tick never overlaps with that of the next.
func Every(name string, interval time.Duration, log *slog.Logger, work func(ctx context.Context) error) Part {
	return Part{Name: name, Run: func(ctx context.Context) error {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			if err := work(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "periodic work failed, trying again at the next tick", "work", name, "error", err)
			}
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
