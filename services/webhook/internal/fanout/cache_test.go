package fanout

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// redisFixture is a fixture whose fan-out reads the versions of tenants from Redis.
type redisFixture struct {
	*fixture

	redis *redis.Client
	// tenant has no version before a test publishes one.
	tenant     string
	nextOffset int64
}

func setupWithRedis(t *testing.T) *redisFixture {
	t.Helper()
	address := testenv.Require(t, testenv.RedisURL)
	opts, err := redis.ParseURL(address)
	require.NoError(t, err)
	f := &redisFixture{fixture: setup(t), redis: redis.NewClient(opts), tenant: uuid.NewString()}
	f.versions, err = tenants.OpenVersions(address, telemetry.Discard())
	require.NoError(t, err)
	f.fan = f.instance()
	t.Cleanup(func() {
		require.NoError(t, f.redis.Del(context.Background(), tenants.VersionKey(f.tenant)).Err())
		require.NoError(t, f.redis.Close())
		require.NoError(t, f.versions.Close())
	})
	return f
}

// publish publishes the version of the directory, as the tenants service does before it responds to a change.
func (f *redisFixture) publish() {
	version := strconv.FormatInt(f.directory.EndpointsVersion(), 10)
	require.NoError(f.t, f.redis.Set(f.t.Context(), tenants.VersionKey(f.tenant), version, time.Minute).Err())
}

// fanOutChange fans out a change of the tenant. It returns the keys that get it, and how many lookups were made.
func (f *redisFixture) fanOutChange() (keys []int32, lookups int) {
	f.t.Helper()
	before := f.directory.Calls("ListEndpoints")
	c := newChange("order.created", 0)
	c.TenantId = f.tenant
	msgs := messages(f.t, c)
	msgs[0].Offset = f.nextOffset
	f.nextOffset++
	require.NoError(f.t, f.fan.Handle(f.t.Context(), 0, msgs))
	return f.deliveries()[c.GetEventId()], f.directory.Calls("ListEndpoints") - before
}

// The lookups that the fan-out of a change may need.
const (
	cached   = 0
	lookedUp = 1
)

// requireChange requires that the next change needs so many lookups and goes to the keys.
func (f *redisFixture) requireChange(lookups int, keys ...int32) {
	f.t.Helper()
	gotKeys, gotLookups := f.fanOutChange()
	require.Equal(f.t, keys, gotKeys)
	require.Equal(f.t, lookups, gotLookups)
}

func (f *redisFixture) subscribe(key int32) {
	f.directory.Subscribe(f.tenant, &tenantsv1.EndpointSubscription{
		KeyId: key, AllBrands: true, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	})
}

func TestEndpointsAreLookedUpOnceForAVersionOfTheirTenant(t *testing.T) {
	t.Parallel()
	f := setupWithRedis(t)
	f.requireChange(lookedUp)
	f.requireChange(lookedUp) // Without a published version, the cache is not used.
	f.publish()
	f.requireChange(cached) // That a tenant has no endpoints is cached too.
	f.subscribe(1)
	f.publish()
	f.requireChange(lookedUp, 1)
	f.requireChange(cached, 1)
	f.subscribe(2)
	f.requireChange(cached, 1) // The new version is not published yet.
	f.publish()
	f.requireChange(lookedUp, 1, 2)
	require.NoError(t, f.redis.Del(t.Context(), tenants.VersionKey(f.tenant)).Err())
	f.requireChange(lookedUp, 1, 2) // Redis has lost the version.
}

func TestEndpointsOfAVersionAreNotUsedForever(t *testing.T) {
	t.Parallel()
	f := setupWithRedis(t)
	f.subscribe(1)
	f.publish()
	f.requireChange(lookedUp, 1)
	f.subscribe(2) // The new version is not published, as if Redis had refused it.
	c := &f.fan.subscriptions.cache
	c.guard.Lock()
	known := c.byTenant[f.tenant]
	known.ConfirmedAt = known.ConfirmedAt.Add(-tenants.VersionLease)
	c.guard.Unlock()
	f.requireChange(lookedUp, 1, 2)
}

func TestEndpointsAreLookedUpOnceTheirLeaseEnds(t *testing.T) {
	t.Parallel()
	f := setupWithRedis(t)
	f.subscribe(1)
	f.publish()
	f.requireChange(lookedUp, 1)
	require.Eventually(t, func() bool { return f.directory.Calls("ListChanges") == 1 }, 30*time.Second, time.Millisecond)
	c := &f.fan.subscriptions.cache
	c.each(func(copied *tenants.Copy) { copied.ConfirmedAt = time.Now().Add(-tenants.VersionLease) })
	f.requireChange(lookedUp, 1)
	c.each(func(copied *tenants.Copy) { copied.ConfirmedAt = time.Now().Add(time.Minute) })
	f.requireChange(cached, 1)
}

// A Redis that was set back has the version from before a change that was answered because Redis had taken its version.
func TestEndpointsAreLookedUpAgainAfterARestartOfRedis(t *testing.T) {
	t.Parallel()
	f := setupWithRedis(t)
	f.subscribe(1)
	f.publish()
	f.requireChange(lookedUp, 1)
	f.subscribe(2)
	f.requireChange(cached, 1)
	another, err := tenants.OpenVersions(testenv.Require(t, testenv.RedisURL), telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, another.Close()) })
	f.fan.subscriptions.versions = another // It has not seen this Redis before.
	f.requireChange(lookedUp, 1, 2)
	f.requireChange(cached, 1, 2)
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := cache{byTenant: map[string]*cacheEntry{}}
	for i := range maxCached + 10 {
		c.put(tenants.Copy{}, map[string]int64{strconv.Itoa(i): 1}, nil)
	}
	require.Len(t, c.byTenant, maxCached)
	now := tenants.Copy{ConfirmedAt: time.Now()}
	c.put(now, map[string]int64{"t": 5}, nil)
	c.put(now, map[string]int64{"t": 4}, nil)
	_, ok := c.get("t", 5, time.Time{})
	require.True(t, ok, "a response that was late changes nothing")
	_, ok = c.get("t", 6, time.Time{})
	require.False(t, ok)
}

func TestALookupOfTenantsWithManyBrandsFitsAMessage(t *testing.T) {
	t.Parallel()
	e := &tenantsv1.EndpointSubscription{Endpoint: &tenantsv1.Endpoint{Url: strings.Repeat("u", 2048)}}
	for range 1000 {
		e.BrandIds = append(e.BrandIds, uuid.NewString())
	}
	const keys, most = 5, 32 << 20 // The bytes of a message of package rpc.
	require.Less(t, maxTenants*keys*proto.Size(e), most)
}

func TestALookupOfManyTenantsIsSplitIntoSeveralCalls(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var sizes []int
	f.directory.OnCall(func(_ context.Context, req proto.Message) error {
		if list, ok := req.(*tenantsv1.ListEndpointsRequest); ok {
			sizes = append(sizes, len(list.GetTenantIds()))
			require.Equal(t, "b", list.GetCell())
		}
		return nil
	})
	f.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	known := newChange("order.created", 0)
	changes := []*eventsv1.Change{known}
	for range 2 * maxTenants {
		c := newChange("order.created", 0)
		c.TenantId = uuid.NewString()
		changes = append(changes, c)
	}
	require.NoError(t, f.fan.Handle(t.Context(), 0, messages(t, changes...)))
	require.Equal(t, []int{maxTenants, maxTenants, 1}, sizes)
	require.Equal(t, map[string][]int32{known.GetEventId(): {1}}, f.deliveries())
}
