// Package tenants is what services know of tenants: copies of their settings, the versions that say whether a copy is still right,
// and the export and the erasure of everything that a database stores of one tenant.
package tenants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Settings of one tenant. They are shared and must not be changed.
type Settings = tenantsv1.GetTenantSettingsResponse

// maxTenants bounds the copies a process keeps.
const maxTenants = 10_000

// Cache keeps a copy of each tenant's settings beside the service that needs them.
//
// A public call carries the version of the settings that the edge saw, and an older copy is never used. So a change counts from the
// next request on, and without changes no request waits for the tenants service.
//
// The cache of a cell refuses tenants whose records are in another cell. A move to another cell makes a new version. So a public
// call that was authenticated after the move is refused by the old cell, and accepted by the new one. Calls that carry no version,
// those of the gift site and of the operations plane, use Fresh, Permit or Here.
type Cache struct {
	directory tenantsv1.DirectoryServiceClient
	own       string // The letter of the cell; empty: tenants of every cell are known.
	calls     singleflight.Group

	mu       sync.RWMutex
	byTenant map[string]settingsCopy
}

// settingsCopy has settings as the tenants service had them at readAt or later.
type settingsCopy struct {
	*Settings
	readAt time.Time
}

// NewCache makes an empty cache over the tenants service, of a service in this cell.
func NewCache(directory tenantsv1.DirectoryServiceClient, own identity.Cell) *Cache {
	return &Cache{directory: directory, own: own.String(), byTenant: map[string]settingsCopy{}}
}

// NewGlobalCache makes an empty cache for a service that serves the tenants of all cells.
func NewGlobalCache(directory tenantsv1.DirectoryServiceClient) *Cache {
	return &Cache{directory: directory, byTenant: map[string]settingsCopy{}}
}

// ErrOtherCell means that the tenant's records are in another cell.
var ErrOtherCell = errors.New("the tenant is in another cell")

// Get returns settings of the tenant that are at least as new as version. A tenant that is in another cell has moved since its key
// was looked up. The answer is service_unavailable, so that the gateway looks the key up again.
func (c *Cache) Get(ctx context.Context, tenantID string, version int64) (*Settings, error) {
	if s := c.cached(tenantID, version); s != nil {
		return s, nil
	}
	// The version is part of the key: a caller must not share a call that began before its change.
	key := fmt.Sprintf("%s/%d", tenantID, version)
	got, err, _ := c.calls.Do(key, func() (any, error) {
		// Another call may have ended since the caller looked.
		if s := c.cached(tenantID, version); s != nil {
			return s, nil
		}
		// Callers share the call, so it must not end with the context of the first one.
		return c.Fresh(context.WithoutCancel(ctx), tenantID)
	})
	if errors.Is(err, ErrOtherCell) {
		return nil, fmt.Errorf("%w: %w", ErrOtherCell, problem.Unavailable())
	}
	if err != nil {
		return nil, err
	}
	return got.(*Settings), nil
}

// cached returns the copy if it is at least as new as version and the tenant is in this cell, else nil.
func (c *Cache) cached(tenantID string, version int64) *Settings {
	if s := c.copyOf(tenantID); s.Settings != nil && s.GetVersion() >= version && c.holds(s.Settings) {
		return s.Settings
	}
	return nil
}

func (c *Cache) copyOf(tenantID string) settingsCopy {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byTenant[tenantID]
}

// holds reports whether the tenant's records are in this cell. A tenants service of release 1.0 knows only the first one.
func (c *Cache) holds(s *Settings) bool {
	return c.own == "" || c.own == cmp.Or(s.GetCell(), identity.HomeCell)
}

// Permit refuses an actor who may not make a call for the tenant, and a tenant that is not in this cell, as Here does. It reads the
// team as it is now, so that a member who has lost a role or the membership loses its permissions immediately.
func (c *Cache) Permit(ctx context.Context, tenantID string, by *commonv1.Actor, needs caller.Permission) error {
	if !needs.NeedsTeam(by) {
		// A service of all cells has every tenant.
		if err := needs.Check(by, nil); err != nil || needs.Lists || c.own == "" {
			return err
		}
		return c.Here(ctx, tenantID)
	}
	settings, err := c.Fresh(ctx, tenantID)
	if err != nil {
		return err
	}
	return needs.Check(by, settings.GetTeam())
}

// Here refuses a tenant that does not exist or whose records are in another cell, for a call that needs nothing else of the
// settings.
//
// A copy is used until it is as old as the lease. So for that long after a move the old cell may still return what it has of the
// tenant. It changes nothing: its database refuses that from before the move until the tenant's rows are erased. The new cell asks
// the tenants service with every call until the tenant is in it. This protects the rows that are being copied there.
func (c *Cache) Here(ctx context.Context, tenantID string) error {
	if s := c.copyOf(tenantID); s.Settings != nil && c.holds(s.Settings) && time.Since(s.readAt) < VersionLease {
		return nil
	}
	_, err := c.Fresh(ctx, tenantID)
	return err
}

// Fresh returns the settings as they are now, for a call that carries no version of them. A tenant that is in another cell is not
// found.
func (c *Cache) Fresh(ctx context.Context, tenantID string) (*Settings, error) {
	began := time.Now()
	s, err := c.directory.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: tenantID})
	if err != nil {
		return nil, fmt.Errorf("settings of tenant: %w", err)
	}
	// Settings of a tenant in another cell are stored too, so that an older answer that arrives later cannot replace them.
	s = c.put(tenantID, settingsCopy{s, began})
	if !c.holds(s) {
		return nil, fmt.Errorf("%w: %w", ErrOtherCell, problem.RecordNotFound())
	}
	return s, nil
}

// put stores settings unless newer ones are stored, and returns the newer ones.
func (c *Cache) put(tenantID string, s settingsCopy) *Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, known := c.byTenant[tenantID]
	if known && old.GetVersion() > s.GetVersion() {
		return old.Settings
	}
	if !known && len(c.byTenant) >= maxTenants {
		for victim := range c.byTenant {
			delete(c.byTenant, victim)
			break
		}
	}
	c.byTenant[tenantID] = s
	return s.Settings
}
