// Package retention ends what an order keeps for a time only: delivery details and audit.
package retention

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/services/orders/internal/store"
)

// How long things are kept where the configuration does not say.
const (
	DefaultDetails = 90 * 24 * time.Hour
	DefaultAudit   = 3 * 365 * 24 * time.Hour
	// MinAudit is what the schema guards.
	MinAudit = 366 * 24 * time.Hour
)

const (
	every = time.Hour
	batch = 1000
)

// ErrAudit refuses to keep the audit for less than the schema guards.
var ErrAudit = errors.New("the audit is kept for 366 days (8784h) at least")

// Retention erases delivery details a while after their order was completed or cancelled, and
// deletes old rows of the audit. Several instances share the work.
type Retention struct {
	Store *store.Store
	// Details and Audit are how long each is kept; zero: the default.
	Details time.Duration
	Audit   time.Duration
	// Clock nil: the database's, so that an instance with a wrong clock erases nothing too early.
	Clock func() time.Time
	Log   *slog.Logger
}

// Run sweeps at once and then every hour until ctx ends.
func (r *Retention) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "retention of orders", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep erases and deletes all that is due, in batches that hold no lock for long.
func (r *Retention) Sweep(ctx context.Context) error {
	var now *time.Time
	if r.Clock != nil {
		at := r.Clock()
		now = &at
	}
	return errors.Join(
		sweep(ctx, r.Store.EraseDetails, now, orElse(r.Details, DefaultDetails)),
		sweep(ctx, r.Store.DeleteAudit, now, orElse(r.Audit, DefaultAudit)),
	)
}

func sweep(
	ctx context.Context, some func(context.Context, *time.Time, time.Duration, int) (int, error),
	now *time.Time, keep time.Duration,
) error {
	for {
		if n, err := some(ctx, now, keep, batch); err != nil || n < batch {
			return err
		}
	}
}

func orElse(configured, otherwise time.Duration) time.Duration {
	if configured <= 0 {
		return otherwise
	}
	return configured
}
