// Package maintenance does the periodic work of the catalog. It records that campaigns have completed at their expiry, and
// deletes old reservations and audit entries. No read depends on it.
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
	// keepReleased is how long a released reservation stays visible.
	keepReleased = 30 * 24 * time.Hour
	// minAudit is enforced by the schema too.
	minAudit = 366 * 24 * time.Hour
)

// ErrAuditRetention refuses a shorter retention of the audit than the schema allows.
var ErrAuditRetention = errors.New("the audit must be kept for at least 366 days (8784h)")

// New makes the part that does the work. Any number of instances may run it.
func New(
	s *store.Store, clock *daemon.RetentionClock, auditRetention time.Duration, tel *telemetry.Telemetry,
) (daemon.Part, error) {
	if auditRetention < minAudit {
		return daemon.Part{}, ErrAuditRetention
	}
	return clock.Every("maintenance", interval, tel, func(ctx context.Context, lag time.Duration) error {
		return Run(ctx, s, auditRetention, lag)
	}), nil
}

// Run does all work that is due by the database's clock, and keeps rows longer by the lag of the retention clock. If one kind of
// work fails, the others still run.
func Run(ctx context.Context, s *store.Store, auditRetention, lag time.Duration) error {
	return errors.Join(
		daemon.InBatches(ctx, batch, s.CompleteExpired),
		daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
			return s.Delete(ctx, store.OldReleased, keepReleased+lag, limit)
		}),
		daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
			return s.Delete(ctx, store.OldAudit, auditRetention+lag, limit)
		}),
	)
}
