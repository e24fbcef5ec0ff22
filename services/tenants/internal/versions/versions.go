// Package versions publishes the versions of tenants in Redis, as gifting:tenant-version:{<tenant id>}, which only grows. Edges
// and services with copies (package tenants) compare. A change whose version Redis does not take is answered when no copy from
// before it is used any more.
package versions

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
)

const (
	// budget bounds an attempt to publish, and pause is the time between two.
	budget = 200 * time.Millisecond
	pause  = 250 * time.Millisecond
	// lease is how long after a change all copies from before it have expired, with a margin for what was begun with such a copy.
	lease = tenants.VersionLease + 500*time.Millisecond
)

// setIfNewer sets the key unless its version is already as new, because changes of a tenant may be published in another order than
// their commits.
var setIfNewer = redis.NewScript(`
local published = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
if tonumber(ARGV[1]) > published then
  redis.call('SET', KEYS[1], ARGV[1])
end
return 0`)

// Publisher publishes versions.
type Publisher struct {
	client        *redis.Client // nil: nothing is published
	log           *slog.Logger
	budget, lease time.Duration
	unpublished   metric.Int64Counter
}

// Open makes a publisher to the Redis at url. With an empty url nothing is published.
func Open(url string, tel *telemetry.Telemetry) (*Publisher, error) {
	if url == "" {
		return &Publisher{log: tel.Logger}, nil
	}
	unpublished, err := tel.Meters.Meter("tenants").Int64Counter("gifting.tenants.unpublished_versions",
		metric.WithDescription("Changes that were answered late because Redis did not take their versions."))
	if err != nil {
		return nil, fmt.Errorf("metric of versions: %w", err)
	}
	unpublished.Add(context.Background(), 0) // So the series exists, with 0, before the first unpublished version.
	client, err := redisconn.Open(url, tel)
	if err != nil {
		return nil, err
	}
	return &Publisher{client: client, log: tel.Logger, budget: budget, lease: lease, unpublished: unpublished}, nil
}

// Publish waits until a committed change may be answered, because it has taken effect everywhere: its version is in Redis, or all
// copies from before it have expired. If ctx ends earlier, it returns an error, and the client repeats the change.
func (p *Publisher) Publish(ctx context.Context, tenantID string, version int64) error {
	expiry := time.Now().Add(p.lease)
	for {
		err := p.PublishOnce(ctx, tenantID, version)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for copies of the tenant to expire: %w", ctx.Err())
		case <-time.After(min(pause, time.Until(expiry))):
		}
		if !time.Now().Before(expiry) {
			p.unpublished.Add(ctx, 1)
			p.log.WarnContext(ctx, "tenant version not published, copies have expired", "tenant_id", tenantID, "version", version, "error",
				err)
			return nil
		}
	}
}

// PublishOnce makes one attempt to publish the version of a committed change. It makes it even if ctx has ended.
func (p *Publisher) PublishOnce(ctx context.Context, tenantID string, version int64) error {
	if p.client == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.budget)
	defer cancel()
	if err := setIfNewer.Run(ctx, p.client, []string{tenants.VersionKey(tenantID)}, version).Err(); err != nil {
		return fmt.Errorf("publish version %d of tenant %s: %w", version, tenantID, err)
	}
	return nil
}

// delete removes whatever is published. Without a version, copies are not used.
func (p *Publisher) delete(ctx context.Context, tenantID string) error {
	if err := p.client.Del(ctx, tenants.VersionKey(tenantID)).Err(); err != nil {
		return fmt.Errorf("delete the version of tenant %s: %w", tenantID, err)
	}
	return nil
}

// Close ends the connections.
func (p *Publisher) Close() error {
	if p.client == nil {
		return nil
	}
	return p.client.Close()
}
