// Package retention keeps the log of deliveries from growing for ever: it deletes what finished long
// enough ago. Deliveries that are still pending stay, however old.
package retention

import (
	"context"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const (
	sweepEvery = time.Hour
	// batchSize bounds how long one transaction holds its locks.
	batchSize = 1000
)

// Worker deletes what is kept no longer.
type Worker struct {
	Store *store.Store
	// Keep is how long finished deliveries stay, by the database's clock.
	Keep time.Duration
	Log  *slog.Logger
}

// Run deletes once an hour until ctx ends. Any number of instances may run it.
func (w *Worker) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := w.Sweep(ctx); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "cannot delete old deliveries, trying again later", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep deletes all that is old now, batch by batch.
func (w *Worker) Sweep(ctx context.Context) error {
	for {
		deleted, err := w.Store.DeleteFinished(ctx, w.Keep, batchSize)
		if err != nil || deleted < batchSize {
			return err
		}
	}
}
