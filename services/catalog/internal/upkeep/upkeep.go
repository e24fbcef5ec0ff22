// Package upkeep does what is due without anybody asking: it writes down that campaigns have
// completed on their own and deletes what is kept for a time only. Nothing that readers see waits
// for it.
package upkeep

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// How often work is looked for, and how long things are kept, where the configuration does not say.
const (
	DefaultEvery = 30 * time.Second
	// KeepReleased is how long a released reservation can be looked at.
	KeepReleased = 30 * 24 * time.Hour
	// DefaultAudit is how long the audit is kept.
	DefaultAudit = 3 * 365 * 24 * time.Hour
	// MinAudit is what the schema guards.
	MinAudit = 366 * 24 * time.Hour
)

// batch bounds how long one transaction holds its locks.
const batch = 1000

// ErrAudit refuses to keep the audit for less than the schema guards.
var ErrAudit = errors.New("the audit is kept for 366 days (8784h) at least")

// Worker does the work. Any number of instances may run it.
type Worker struct {
	Store *store.Store
	// Every and Audit zero: the default.
	Every time.Duration
	Audit time.Duration
	Log   *slog.Logger
}

// Run looks for work at once and then regularly, until ctx ends.
func (w *Worker) Run(ctx context.Context) error {
	tick := time.NewTicker(orElse(w.Every, DefaultEvery))
	defer tick.Stop()
	for {
		if err := w.Sweep(ctx); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "upkeep of the catalog, trying again later", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep does all that is due now, by the database's clock. One kind of work that fails does not keep
// the others from it.
func (w *Worker) Sweep(ctx context.Context) error {
	return errors.Join(
		inBatches(func() (int64, error) { return w.Store.CompleteExpired(ctx, batch) }),
		inBatches(func() (int64, error) { return w.Store.DeleteReleased(ctx, KeepReleased, batch) }),
		inBatches(func() (int64, error) { return w.Store.DeleteAudit(ctx, orElse(w.Audit, DefaultAudit), batch) }),
	)
}

func inBatches(work func() (int64, error)) error {
	for {
		if n, err := work(); err != nil || n < batch {
			return err
		}
	}
}

func orElse(value, otherwise time.Duration) time.Duration {
	if value <= 0 {
		return otherwise
	}
	return value
}
