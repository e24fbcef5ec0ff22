// Package maintenance does the periodic work of the catalog. It records that campaigns have completed at their expiry, and
// deletes old reservations and audit entries. Reads do not need it: they show a campaign as completed from its expiry on,
// recorded or not.
package maintenance

import (
	"context"
	"errors"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

const (
	interval = 30 * time.Second
	// batch bounds how long one transaction holds its locks.
	batch = 1000
	// releasedRetention is how long after its expiry a released reservation is kept.
	releasedRetention = 30 * 24 * time.Hour
)

// New makes the part that does the work. Any number of instances may run it. The schema refuses to delete audit entries that are
// younger than 365 days.
func New(
	s *store.Store, clock *daemon.RetentionClock, auditRetention time.Duration, tel *telemetry.Telemetry,
) daemon.Part {
	return clock.Every("maintenance", interval, tel, func(ctx context.Context, lag time.Duration) error {
		return Run(ctx, s, auditRetention, lag)
	})
}

// Run does all work that is due. It treats the time as earlier by lag, which is how far daemon.RetentionClock is behind the
// database's clock. If one kind of work fails, the others still run.
func Run(ctx context.Context, s *store.Store, auditRetention, lag time.Duration) error {
	return errors.Join(
		daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
			return s.CompleteExpired(ctx, lag, limit)
		}),
		daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
			return s.Delete(ctx, store.OldReleased, releasedRetention+lag, limit)
		}),
		daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
			return s.Delete(ctx, store.OldAudit, auditRetention+lag, limit)
		}),
	)
}
