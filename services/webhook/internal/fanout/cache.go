package fanout

import (
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
)

// maxCached bounds the tenants whose endpoints are kept.
const maxCached = 10_000

// cacheEntry has the endpoints of a tenant.
type cacheEntry struct {
	tenants.Copy
	sender.Subscriptions
}

// cache keeps the endpoints of tenants, also of those that have none.
type cache struct {
	guard    sync.Mutex
	byTenant map[string]*cacheEntry
}

// get returns the endpoints of a tenant that has this published version, if they were confirmed after a time. Without a published
// version, it returns none.
func (c *cache) get(tenant string, version int64, after time.Time) (sender.Subscriptions, bool) {
	c.guard.Lock()
	defer c.guard.Unlock()
	known, ok := c.byTenant[tenant]
	if !ok || version == 0 || known.Version < version || !known.ConfirmedAt.After(after) ||
		time.Since(known.ConfirmedAt) >= tenants.VersionLease {
		return sender.Subscriptions{}, false
	}
	return known.Subscriptions, true
}

// put keeps the endpoints of those tenants whose versions are known, unless newer ones are kept.
func (c *cache) put(copied tenants.Copy, versions map[string]int64, found map[string]sender.Subscriptions) {
	c.guard.Lock()
	defer c.guard.Unlock()
	for tenant, version := range versions {
		known, ok := c.byTenant[tenant]
		if ok && known.Version > version {
			continue
		}
		if !ok && len(c.byTenant) >= maxCached {
			for victim := range c.byTenant {
				delete(c.byTenant, victim)
				break
			}
		}
		copied.TenantID, copied.Version = tenant, version
		c.byTenant[tenant] = &cacheEntry{copied, found[tenant]}
	}
}

// each calls renew with each copy.
func (c *cache) each(renew func(*tenants.Copy)) {
	c.guard.Lock()
	defer c.guard.Unlock()
	for _, e := range c.byTenant {
		renew(&e.Copy)
	}
}
