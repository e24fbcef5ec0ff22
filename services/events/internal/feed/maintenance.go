package feed

import (
	"context"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/services/events/internal/store"
)

const (
	// daysAhead exist before they are needed: nothing waits at midnight, and failures of the maintenance
	// do no harm for days.
	daysAhead           = 4
	maintenanceInterval = 30 * time.Minute
)

// Maintenance creates the partitions of coming days and drops those that are past retention. Any
// number of instances may run it.
func Maintenance(s *store.Store, retention time.Duration, log *slog.Logger) daemon.Part {
	return daemon.Every("feed maintenance", maintenanceInterval, log, func(ctx context.Context) error {
		return maintain(ctx, s, retention, log)
	})
}

// maintain drops a day when its last moment is past retention.
func maintain(ctx context.Context, s *store.Store, retention time.Duration, log *slog.Logger) error {
	if err := s.EnsureDays(ctx, daysAhead); err != nil {
		return err
	}
	dropped, err := s.DropOlder(ctx, retention)
	for _, day := range dropped {
		log.InfoContext(ctx, "dropped a day of the feed", "day", day.Format(time.DateOnly))
	}
	return err
}
