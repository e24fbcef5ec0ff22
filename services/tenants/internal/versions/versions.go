// Package versions publishes the versions of tenants through Redis, to the edges and to services that keep copies (package
// tenantversion).
//
// Key gifting:tenant-version:{<tenant id>} has the newest version of the tenant as a decimal number, which only grows.
// An edge compares it with the version of a cached principal and resolves the key again when the published version is
// newer. Publication is best effort: the change is committed whether Redis answers or not.
package versions

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenantversion"
)

// budget bounds how long a change waits for its publication.
const budget = 200 * time.Millisecond

// raise sets the key unless its version is already as new, because changes of a tenant may be published in another order than
// their commits.
var raise = redis.NewScript(`
local held = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
if tonumber(ARGV[1]) > held then
  redis.call('SET', KEYS[1], ARGV[1])
end
return 0`)

// Publisher publishes versions.
type Publisher struct {
	client *redis.Client // nil: nothing is published
	log    *slog.Logger
	budget time.Duration
}

// Open makes a publisher to the Redis at url. With an empty url nothing is published.
func Open(url string, tel *telemetry.Telemetry) (*Publisher, error) {
	if url == "" {
		return &Publisher{log: tel.Logger}, nil
	}
	client, err := redisconn.Open(url)
	if err != nil {
		return nil, err
	}
	if err := redisconn.Observe(client, tel); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &Publisher{client: client, log: tel.Logger, budget: budget}, nil
}

// Publish publishes a version that the tenant has reached. It waits at most 200 ms, even if ctx has ended, because the change
// is committed.
func (p *Publisher) Publish(ctx context.Context, tenantID string, version int64) {
	if p.client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.budget)
	defer cancel()
	if err := raise.Run(ctx, p.client, []string{tenantversion.Key(tenantID)}, version).Err(); err != nil {
		p.log.WarnContext(ctx, "tenant version not published", "tenant_id", tenantID, "version", version, "error", err)
	}
}

// replace publishes a version instead of whatever is published.
func (p *Publisher) replace(ctx context.Context, tenantID string, version int64) {
	if err := p.client.Set(ctx, tenantversion.Key(tenantID), version, 0).Err(); err != nil {
		p.log.WarnContext(ctx, "tenant version not published", "tenant_id", tenantID, "version", version, "error", err)
	}
}

// Close ends the connections.
func (p *Publisher) Close() error {
	if p.client == nil {
		return nil
	}
	return p.client.Close()
}
