package fanout

import (
	"sync"
	"time"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// maxCached bounds the tenants whose endpoints are kept.
	maxCached = 10_000
	// maxAge is how long endpoints are used whatever the version of their tenant. It bounds the delay of a change whose version could
	// not be published, which the tenants service tries again every ten seconds.
	maxAge = time.Minute
)

// cached are the endpoints of a tenant. They must not be changed.
type cached struct {
	version  int64
	lookedUp time.Time
	list     []*tenantsv1.EndpointSubscription
}

// cache keeps the endpoints of tenants, also of those that have none.
type cache struct {
	guard    sync.Mutex
	byTenant map[string]cached
}

// get returns the endpoints of a tenant that has this published version. Without a published version, it returns none.
func (c *cache) get(tenant string, version int64) ([]*tenantsv1.EndpointSubscription, bool) {
	c.guard.Lock()
	defer c.guard.Unlock()
	known, ok := c.byTenant[tenant]
	if !ok || version == 0 || known.version < version || time.Since(known.lookedUp) > maxAge {
		return nil, false
	}
	return known.list, true
}

// put keeps the endpoints of those tenants whose versions are known, unless newer ones are kept.
func (c *cache) put(versions map[string]int64, lookedUp time.Time, list map[string][]*tenantsv1.EndpointSubscription) {
	c.guard.Lock()
	defer c.guard.Unlock()
	for tenant, version := range versions {
		known, ok := c.byTenant[tenant]
		if ok && known.version > version {
			continue
		}
		if !ok && len(c.byTenant) >= maxCached {
			for victim := range c.byTenant {
				delete(c.byTenant, victim)
				break
			}
		}
		c.byTenant[tenant] = cached{version, lookedUp, list[tenant]}
	}
}
