// Package tenants is what services know of tenants: copies of their settings, the versions that say whether a copy is still right,
// and the export and the erasure of everything that a database stores of one tenant.
package tenants

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/partnergifting/platform/pkg/caller"
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
type Cache struct {
	directory tenantsv1.DirectoryServiceClient
	calls     singleflight.Group

	mu       sync.RWMutex
	byTenant map[string]*Settings
}

// NewCache makes an empty cache over the tenants service.
func NewCache(directory tenantsv1.DirectoryServiceClient) *Cache {
	return &Cache{directory: directory, byTenant: map[string]*Settings{}}
}

// Get returns settings of the tenant that are at least as new as version.
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
	if err != nil {
		return nil, err
	}
	return got.(*Settings), nil
}

// cached returns the copy if it is at least as new as version, else nil.
func (c *Cache) cached(tenantID string, version int64) *Settings {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s := c.byTenant[tenantID]; s != nil && s.GetVersion() >= version {
		return s
	}
	return nil
}

// Permit refuses an actor who may not make a call for the tenant. It reads the team as it is now, so that a member who has lost a
// role or the membership loses its permissions immediately.
func (c *Cache) Permit(ctx context.Context, tenantID string, by *commonv1.Actor, needs caller.Permission) error {
	var team []*tenantsv1.TeamMember
	if needs.NeedsTeam(by) {
		settings, err := c.Fresh(ctx, tenantID)
		if err != nil {
			return err
		}
		team = settings.GetTeam()
	}
	return needs.Check(by, team)
}

// Fresh returns the settings as they are now, for a call that carries no version of them.
func (c *Cache) Fresh(ctx context.Context, tenantID string) (*Settings, error) {
	s, err := c.directory.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: tenantID})
	if err != nil {
		return nil, fmt.Errorf("settings of tenant: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old, known := c.byTenant[tenantID]
	if known && old.GetVersion() > s.GetVersion() {
		return old, nil
	}
	if !known && len(c.byTenant) >= maxTenants {
		for victim := range c.byTenant {
			delete(c.byTenant, victim)
			break
		}
	}
	c.byTenant[tenantID] = s
	return s, nil
}
