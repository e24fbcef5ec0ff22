package tenants

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// VersionLease is for how long a copy is used after it was read from the tenants service, although Redis has no later version.
const VersionLease = 3 * time.Second

const (
	// budget bounds a read. It is the longest delay by a Redis that does not answer.
	budget = 50 * time.Millisecond
	// pause is for how long nothing is read after a read that failed.
	pause = time.Second
)

// VersionKey is the name of the key in Redis that has the newest version of a tenant as a decimal number.
func VersionKey(tenantID string) string { return "gifting:tenant-version:{" + tenantID + "}" }

// VersionReader reads the versions of tenants that the tenants service publishes in Redis, so that a service knows whether its copy
// of what belongs to a tenant is still right, without a call of the tenants service.
//
// A version grows with every change of the tenant or of its keys. A copy is used only while Redis says that its version is the
// newest; without an answer the tenants service is asked. Redis may answer and refuse writes, as when it is full. So a copy is used
// for at most the lease, counted from before it was read or Copies renewed it, and a change is answered once its version is in
// Redis, or else after the lease. Redis may also lose a version that it took, when it is restarted or replaced. So a copy from
// before that is not used. What is not covered is a Redis that loses a version within the lease and goes on.
type VersionReader struct {
	client *redis.Client // Nil: no version is known.
	log    *slog.Logger
	// failed is when the last read failed, in nanoseconds since opened; zero: none failed.
	opened time.Time
	failed atomic.Int64
	// newServer is when Redis was last another one than before, in the same form.
	newServer atomic.Int64
}

// OpenVersions makes a reader of the Redis at the address. With an empty address no version is known.
func OpenVersions(address string, tel *telemetry.Telemetry) (*VersionReader, error) {
	r := &VersionReader{log: tel.Logger, opened: time.Now()}
	if address == "" {
		return r, nil
	}
	client, err := redisconn.Open(address, tel)
	if err != nil {
		return nil, err
	}
	redisconn.OnNewServer(client, func() { r.newServer.Store(int64(time.Since(r.opened))) })
	r.client = client
	return r, nil
}

// Published returns the versions of tenants by their ids. One that is not published, or cannot be read, is left out.
func (r *VersionReader) Published(ctx context.Context, tenants []string) map[string]int64 {
	if r.client == nil || len(tenants) == 0 {
		return nil
	}
	if failed := time.Duration(r.failed.Load()); failed != 0 && time.Since(r.opened)-failed < pause {
		return nil
	}
	keys := make([]string, len(tenants))
	for i, id := range tenants {
		keys[i] = VersionKey(id)
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	values, err := r.client.MGet(ctx, keys...).Result()
	if err != nil {
		r.failed.Store(int64(time.Since(r.opened)))
		r.log.WarnContext(ctx, "cannot read versions of tenants, asking the tenants service", "error", err)
		return nil
	}
	found := make(map[string]int64, len(tenants))
	for i, v := range values {
		text, ok := v.(string)
		if !ok {
			continue
		}
		if version, err := strconv.ParseInt(text, 10, 64); err == nil {
			found[tenants[i]] = version
		}
	}
	return found
}

// NewServerAt returns when Redis was last found to be another one than before. A copy that was not confirmed since must not be
// used, also if Published returned its version.
func (r *VersionReader) NewServerAt() time.Time {
	return r.opened.Add(time.Duration(r.newServer.Load()))
}

// Close ends the connections.
func (r *VersionReader) Close() error {
	if r.client == nil {
		return nil
	}
	return r.client.Close()
}
