package feed

import (
	"context"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/services/events/internal/store"
)

const (
	// daysAhead exist before they are needed, so that nothing waits at midnight and an hour in
	// which upkeep fails does not matter.
	daysAhead = 4
	// upkeepEvery is often enough for partitions of days.
	upkeepEvery = 30 * time.Minute
)

// Upkeep creates the partitions of coming days and drops those that retention has ended.
type Upkeep struct {
	store     *store.Store
	retention time.Duration
	log       *slog.Logger
}

// NewUpkeep makes the worker. Several instances may run it at once.
func NewUpkeep(s *store.Store, retention time.Duration, log *slog.Logger) *Upkeep {
	return &Upkeep{store: s, retention: retention, log: log}
}

// Run works until ctx ends.
func (u *Upkeep) Run(ctx context.Context) error {
	ticker := time.NewTicker(upkeepEvery)
	defer ticker.Stop()
	for {
		if err := u.Once(ctx); err != nil && ctx.Err() == nil {
			u.log.ErrorContext(ctx, "upkeep of the feed failed, trying again later", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Once does what is due now. A day is dropped when its last moment is older than the retention.
func (u *Upkeep) Once(ctx context.Context) error {
	if err := u.store.EnsureDays(ctx, daysAhead); err != nil {
		return err
	}
	dropped, err := u.store.DropOlder(ctx, u.retention)
	for _, day := range dropped {
		u.log.InfoContext(ctx, "dropped a day of the feed", "day", day.Format(time.DateOnly))
	}
	return err
}
