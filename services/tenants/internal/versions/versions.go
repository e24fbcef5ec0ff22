// Package versions tells the edges, by way of Redis, that something of a tenant changed.
//
// Key gifting:tenant-version:{<tenant id>} holds the tenant's newest version as a decimal number;
// it only ever grows. An edge compares it with the version in the principal it cached and resolves
// the key again when the published one is newer. Publication is best effort: the change is
// committed and stands whether Redis answers or not.
package versions

import (
	"context"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// budget bounds how long a change waits for its publication.
const budget = 200 * time.Millisecond

// raise sets the key unless it holds as new a version. Changes of one tenant may be published in
// another order than they were committed in.
var raise = redis.NewScript(`
local held = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
if tonumber(ARGV[1]) > held then
  redis.call('SET', KEYS[1], ARGV[1])
end
return 0`)

// Key is the name the version of the tenant is published under.
func Key(tenantID string) string { return "gifting:tenant-version:{" + tenantID + "}" }

// Publisher publishes versions.
type Publisher struct {
	client *redis.Client // nil: nothing is published.
	log    *slog.Logger
}

// Open makes a publisher to the Redis at url. With an empty url nothing is published.
func Open(url string, log *slog.Logger) (*Publisher, error) {
	if url == "" {
		return &Publisher{log: log}, nil
	}
	client, err := redisconn.Open(url)
	if err != nil {
		return nil, err
	}
	return &Publisher{client: client, log: log}, nil
}

// Observe makes tel tell of what is published.
func (p *Publisher) Observe(tel *telemetry.Telemetry) error {
	if p.client == nil {
		return nil
	}
	return redisconn.Observe(p.client, tel)
}

// Publish makes version known as one the tenant has reached. It waits at most 200 ms, also when ctx
// has ended: what it tells of is committed.
func (p *Publisher) Publish(ctx context.Context, tenantID string, version int64) {
	if p.client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)
	defer cancel()
	if err := raise.Run(ctx, p.client, []string{Key(tenantID)}, version).Err(); err != nil {
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
