// Package retention erases delivery details and deletes audit rows when their retention time has passed.
package retention

import (
	"context"
	"errors"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const batch = 1000

// Config of the retention.
type Config struct {
	// Details is how long delivery details are kept after the completion or cancellation of their order.
	Details time.Duration
	// Open is how long an order may be open without a change or message before it is closed.
	Open time.Duration
	// Audit is how long the audit is kept. The schema refuses to delete what is younger than 365 days.
	Audit time.Duration
}

// Retention erases and deletes. Several instances share the work. The database's clock decides what is old enough, so an instance
// with a wrong clock erases nothing too early.
type Retention struct {
	orders *store.Store
	cfg    Config
}

// New makes a retention.
func New(orders *store.Store, cfg Config) *Retention { return &Retention{orders: orders, cfg: cfg} }

// Sweep erases and deletes everything that is due, later by the lag of the retention clock.
func (r *Retention) Sweep(ctx context.Context, lag time.Duration) error {
	return errors.Join(
		daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
			return r.orders.EraseDetails(ctx, r.cfg.Details+lag, limit)
		}),
		r.closeStale(ctx, lag),
		daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
			return r.orders.DeleteAudit(ctx, r.cfg.Audit+lag, limit)
		}),
	)
}
