package fanout

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// published is a fixture whose fan-out reads the versions of tenants from Redis.
type published struct {
	*fixture

	redis *redis.Client
	// tenant has no version before a test publishes one.
	tenant string
	next   int64
}

func setupPublished(t *testing.T) *published {
	t.Helper()
	address := testenv.Require(t, testenv.RedisURL)
	opts, err := redis.ParseURL(address)
	require.NoError(t, err)
	p := &published{fixture: setup(t), redis: redis.NewClient(opts), tenant: uuid.NewString()}
	p.versions, err = tenants.OpenVersions(address, telemetry.Discard())
	require.NoError(t, err)
	p.fan, p.sender = p.instance()
	t.Cleanup(func() {
		require.NoError(t, p.redis.Del(context.Background(), tenants.VersionKey(p.tenant)).Err())
		require.NoError(t, p.redis.Close())
		require.NoError(t, p.versions.Close())
	})
	return p
}

// publish publishes the version of the directory, as the tenants service does before it answers a change.
func (p *published) publish() {
	version := strconv.FormatInt(p.directory.Version(), 10)
	require.NoError(p.t, p.redis.Set(p.t.Context(), tenants.VersionKey(p.tenant), version, time.Minute).Err())
}

// change fans out a change of the tenant and returns the keys that get it, and how many lookups it took.
func (p *published) change() (keys []int32, lookups int) {
	p.t.Helper()
	before := p.directory.Calls("ListEndpoints")
	c := newChange("order.created", 0)
	c.TenantId = p.tenant
	msgs := messages(p.t, []*eventsv1.Change{c}...)
	msgs[0].Offset = p.next
	p.next++
	require.NoError(p.t, p.fan.Handle(p.t.Context(), 0, msgs))
	return p.deliveries()[c.GetEventId()], p.directory.Calls("ListEndpoints") - before
}

func (p *published) requireChange(lookups int, keys ...int32) {
	p.t.Helper()
	gotKeys, gotLookups := p.change()
	require.Equal(p.t, keys, gotKeys)
	require.Equal(p.t, lookups, gotLookups)
}

func (p *published) subscribe(key int32) {
	p.directory.Subscribe(p.tenant, &tenantsv1.EndpointSubscription{
		KeyId: key, AllBrands: true, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	})
}

func TestEndpointsAreLookedUpOnceForAVersionOfTheirTenant(t *testing.T) {
	t.Parallel()
	p := setupPublished(t)
	p.requireChange(1)
	p.requireChange(1) // Its version is not published.
	p.publish()
	p.requireChange(0) // Nothing is asked for a tenant without a webhook.
	p.subscribe(1)
	p.publish()
	p.requireChange(1, 1)
	p.requireChange(0, 1)
	p.subscribe(2)
	p.requireChange(0, 1) // The response to the change is still to come.
	p.publish()
	p.requireChange(1, 1, 2)
	require.NoError(t, p.redis.Del(t.Context(), tenants.VersionKey(p.tenant)).Err())
	p.requireChange(1, 1, 2) // Redis has lost it.
}

func TestEndpointsOfAVersionAreNotUsedForever(t *testing.T) {
	t.Parallel()
	p := setupPublished(t)
	p.subscribe(1)
	p.publish()
	p.requireChange(1, 1)
	p.subscribe(2) // Its version cannot be published.
	c := &p.fan.subscriptions.cache
	c.guard.Lock()
	known := c.byTenant[p.tenant]
	known.LookedUp = known.LookedUp.Add(-tenants.VersionLease)
	c.byTenant[p.tenant] = known
	c.guard.Unlock()
	p.requireChange(1, 1, 2)
}

func TestARotatedSecretSignsTheNextChangeOfAKnownEndpoint(t *testing.T) {
	t.Parallel()
	p := setupPublished(t)
	r := webhooktest.NewReceiver(t)
	p.subscribe(1)
	p.directory.SetEndpoint(r.Endpoint(1))
	p.publish()
	stop := p.run()
	defer stop()
	for range 2 {
		p.change()
	}
	require.Eventually(t, func() bool { return len(r.Arrivals()) == 2 }, waitLimit, pollInterval)
	r.Rotate("another")
	p.directory.SetEndpoint(r.Endpoint(1))
	p.publish()
	p.change()
	require.Eventually(t, func() bool { return len(r.Arrivals()) == 3 }, waitLimit, pollInterval)
	for _, a := range r.Arrivals() {
		require.True(t, a.Verified)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := cache{byTenant: map[string]cacheEntry{}}
	for i := range maxCached + 10 {
		c.put(map[string]int64{strconv.Itoa(i): 1}, nil)
	}
	require.Len(t, c.byTenant, maxCached)
	c.put(map[string]int64{"t": 5}, map[string]sender.Subscriptions{"t": {LookedUp: time.Now()}})
	c.put(map[string]int64{"t": 4}, nil)
	_, ok := c.get("t", 5)
	require.True(t, ok, "a response that was late changes nothing")
	_, ok = c.get("t", 6)
	require.False(t, ok)
}
