package fanout

import (
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
)

// maxCached bounds the tenants whose endpoints are kept.
const maxCached = 10_000

// cacheEntry has the endpoints of a tenant as of a version.
type cacheEntry struct {
	version int64
	sender.Subscriptions
}

// cache keeps the endpoints of tenants, also of those that have none.
type cache struct {
	guard    sync.Mutex
	byTenant map[string]cacheEntry
}

// get returns the endpoints of a tenant that has this published version, if they were looked up after the last connection to Redis
// was made. Without a published version, it returns none.
func (c *cache) get(tenant string, version int64, connected time.Time) (sender.Subscriptions, bool) {
	c.guard.Lock()
	defer c.guard.Unlock()
	known, ok := c.byTenant[tenant]
	confirmed := ok && version != 0 && known.version >= version && known.LookedUp.After(connected)
	if !confirmed || time.Since(known.LookedUp) >= tenants.VersionLease {
		return sender.Subscriptions{}, false
	}
	return known.Subscriptions, true
}

// put keeps the endpoints of those tenants whose versions are known, unless newer ones are kept.
func (c *cache) put(versions map[string]int64, found map[string]sender.Subscriptions) {
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
		c.byTenant[tenant] = cacheEntry{version, found[tenant]}
	}
}
