package versions

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	// checkInterval is how long the edges may work with copies from before a restore.
	checkInterval = 10 * time.Second
	checkPage     = 1000
)

// Check compares the database with Redis from time to time. If the database has gone back to an earlier state, versions and
// ids skip what it may have handed out. If Redis has lost versions, they are published again.
func Check(s *store.Store, p *Publisher, tel *telemetry.Telemetry) daemon.Part {
	s.OnSkip = func(ctx context.Context) { logSkip(ctx, tel.Logger) }
	return daemon.Every("versions", checkInterval, tel, func(ctx context.Context) error {
		return check(ctx, s, p, tel.Logger)
	})
}

func check(ctx context.Context, s *store.Store, p *Publisher, log *slog.Logger) error {
	if err := skip(ctx, s, nil, log); err != nil {
		return err
	}
	for after := uuid.Nil.String(); ; {
		page, err := s.Versions(ctx, after, checkPage)
		if err != nil {
			return err
		}
		published, err := p.published(ctx, page)
		if err != nil {
			return err
		}
		var ahead []store.TenantVersion
		for i, tenant := range page {
			switch {
			case published[i] > tenant.Version: // Or the tenant has just changed.
				ahead = append(ahead, store.TenantVersion{TenantID: tenant.TenantID, Version: published[i]})
			case published[i] < tenant.Version:
				p.Publish(ctx, tenant.TenantID, tenant.Version)
			}
		}
		if len(ahead) > 0 {
			if err := skip(ctx, s, ahead, log); err != nil {
				return err
			}
		}
		if len(page) < checkPage {
			return nil
		}
		after = page[len(page)-1].TenantID
	}
}

func skip(ctx context.Context, s *store.Store, seen []store.TenantVersion, log *slog.Logger) error {
	skipped, err := s.SkipAfterRestore(ctx, seen)
	if skipped {
		logSkip(ctx, log)
	}
	return err
}

func logSkip(ctx context.Context, log *slog.Logger) {
	log.WarnContext(ctx, "the database was restored, failed over or set back: versions of tenants and ids of keys skip what it may have handed out")
}

// published returns the published versions of tenants, zero for one that has none.
func (p *Publisher) published(ctx context.Context, tenants []store.TenantVersion) ([]int64, error) {
	list := make([]int64, len(tenants))
	if p.client == nil || len(tenants) == 0 {
		return list, nil
	}
	keys := make([]string, len(tenants))
	for i, t := range tenants {
		keys[i] = Key(t.TenantID)
	}
	values, err := p.client.MGet(ctx, keys...).Result()
	if err != nil {
		return nil, fmt.Errorf("read the published versions: %w", err)
	}
	for i, v := range values {
		if text, ok := v.(string); ok {
			list[i], _ = strconv.ParseInt(text, 10, 64) // What is not a number is replaced.
		}
	}
	return list, nil
}
