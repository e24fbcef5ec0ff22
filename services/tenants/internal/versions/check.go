package versions

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	// checkInterval is how long the edges may work with copies from before a restore.
	checkInterval = 10 * time.Second
	checkPage     = 1000
)

// checker compares the versions of the database with those of Redis.
type checker struct {
	store     *store.Store
	publisher *Publisher
	log       *slog.Logger
	skips     metric.Int64Counter
}

// Check compares the database with Redis from time to time. If the database has gone back to an earlier state, versions and
// ids skip what it may have handed out. If Redis has lost versions, they are published again.
func Check(s *store.Store, p *Publisher, tel *telemetry.Telemetry) (daemon.Part, error) {
	c, err := newChecker(s, p, tel)
	if err != nil {
		return daemon.Part{}, err
	}
	return daemon.Every("versions", checkInterval, tel, c.check), nil
}

func newChecker(s *store.Store, p *Publisher, tel *telemetry.Telemetry) (*checker, error) {
	skips, err := tel.Meters.Meter("tenants").Int64Counter("gifting.tenants.skips",
		metric.WithDescription("Times that versions of tenants and ids of keys skipped what may have been handed out, by reason."))
	if err != nil {
		return nil, fmt.Errorf("metric of skips: %w", err)
	}
	c := &checker{store: s, publisher: p, log: tel.Logger, skips: skips}
	for _, why := range []store.Skip{store.SkipRestarted, store.SkipRestored, store.SkipBehind} {
		skips.Add(context.Background(), 0, reason(why)) // The series exists before the first skip.
	}
	s.OnSkip = c.report
	return c, nil
}

func reason(why store.Skip) metric.AddOption {
	return metric.WithAttributes(attribute.String("reason", string(why)))
}

func (c *checker) check(ctx context.Context) error {
	if err := c.skip(ctx, nil); err != nil {
		return err
	}
	for after := uuid.Nil.String(); ; {
		page, err := c.store.Versions(ctx, after, checkPage)
		if err != nil {
			return err
		}
		if err := c.compare(ctx, page); err != nil {
			return err
		}
		if len(page) < checkPage {
			return nil
		}
		after = page[len(page)-1].TenantID
	}
}

// compare skips if Redis has later versions than the database, and publishes those that Redis lacks.
func (c *checker) compare(ctx context.Context, page []store.TenantVersion) error {
	published, err := c.publisher.published(ctx, page)
	if err != nil {
		return err
	}
	var ahead, behind []store.TenantVersion
	for i, tenant := range page {
		switch {
		case published[i] > tenant.Version: // Or the tenant has just changed.
			ahead = append(ahead, store.TenantVersion{TenantID: tenant.TenantID, Version: published[i]})
		case published[i] < tenant.Version:
			behind = append(behind, tenant)
		}
	}
	if err := c.skipPast(ctx, ahead); err != nil {
		return err
	}
	for _, tenant := range behind {
		if err := c.publisher.PublishOnce(ctx, tenant.TenantID, tenant.Version); err != nil {
			return err
		}
	}
	return nil
}

// skipPast skips past versions in Redis that are later than those of the database, and deletes versions that are impossible. The
// next check publishes those of the database. Here they may be out of date already, and would hide a change that was published
// since.
func (c *checker) skipPast(ctx context.Context, ahead []store.TenantVersion) error {
	if len(ahead) == 0 {
		return nil
	}
	wrong, err := c.store.ImpossibleVersions(ctx, ahead)
	if err != nil {
		return err
	}
	for _, tenant := range wrong {
		c.log.ErrorContext(ctx, "Redis has a version that no tenant can have: it is deleted", "tenant_id", tenant.TenantID)
		if err := c.publisher.delete(ctx, tenant.TenantID); err != nil {
			return err
		}
	}
	return c.skip(ctx, slices.DeleteFunc(ahead, func(seen store.TenantVersion) bool {
		return slices.ContainsFunc(wrong, func(tenant store.TenantVersion) bool { return tenant.TenantID == seen.TenantID })
	}))
}

func (c *checker) skip(ctx context.Context, seen []store.TenantVersion) error {
	why, err := c.store.SkipAfterRestore(ctx, seen)
	if why != store.NotSkipped {
		c.report(ctx, why)
	}
	return err
}

func (c *checker) report(ctx context.Context, why store.Skip) {
	c.skips.Add(ctx, 1, reason(why))
	if why == store.SkipRestarted {
		c.log.InfoContext(ctx,
			"the database server was restarted: versions of tenants and ids of keys skip, in case its disk was set back")
		return
	}
	c.log.WarnContext(ctx,
		"the database was restored, failed over or set back: versions of tenants and ids of keys skip what it may have handed out")
}

// published returns the published versions of tenants, zero for one that has none.
func (p *Publisher) published(ctx context.Context, page []store.TenantVersion) ([]int64, error) {
	list := make([]int64, len(page))
	if p.client == nil || len(page) == 0 {
		return list, nil
	}
	keys := make([]string, len(page))
	for i, t := range page {
		keys[i] = tenants.VersionKey(t.TenantID)
	}
	values, err := p.client.MGet(ctx, keys...).Result()
	if err != nil {
		return nil, fmt.Errorf("read the published versions: %w", err)
	}
	for i, v := range values {
		text, ok := v.(string)
		if !ok {
			continue
		}
		if list[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			list[i] = math.MaxInt64 // What is not a version is deleted, as one that is too high.
		}
	}
	return list, nil
}
