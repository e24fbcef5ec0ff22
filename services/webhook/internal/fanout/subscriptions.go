package fanout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/tenants"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
)

const (
	// lookupTimeout ends a call that takes too long; the messages are tried again.
	lookupTimeout = 5 * time.Second
	// maxTenants is how many tenants a call asks for: the response has several keys of each, and a key has a URL of up to 2 KB and up
	// to 1000 brands, which are 38 KB.
	maxTenants = 20
)

// subscriptions looks up the endpoints of tenants, unless it knows those of the versions that are published now.
type subscriptions struct {
	directory tenantsv1.DirectoryServiceClient
	cell      identity.Cell
	versions  *tenants.VersionReader
	cache     cache
	copies    *tenants.Copies
}

func newSubscriptions(deps Deps, cell identity.Cell) *subscriptions {
	s := &subscriptions{
		directory: deps.Directory, cell: cell, versions: deps.Versions, cache: cache{byTenant: map[string]*cacheEntry{}},
	}
	s.copies = tenants.NewCopies(deps.Directory, time.Now, s.cache.each)
	return s
}

// endpointsOf returns the endpoints of the batch's tenants, which must not be changed.
func (s *subscriptions) endpointsOf(ctx context.Context, changes []change) (sender.Lookup, error) {
	found := sender.Lookup{Began: time.Now(), Endpoints: map[string]sender.Subscriptions{}}
	if len(changes) == 0 {
		return found, nil
	}
	s.copies.Used(ctx)
	ids := postgres.Column(changes, func(c change) string { return c.GetTenantId() })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	published := s.versions.Published(ctx, ids)
	since := s.versions.NewServerAt() // Read after the versions: reading them may find another server.
	missing := slices.DeleteFunc(ids, func(id string) bool {
		known, ok := s.cache.get(id, published[id], since)
		if ok {
			found.Endpoints[id] = known
		}
		return ok
	})
	for some := range slices.Chunk(missing, maxTenants) {
		if err := s.lookUp(ctx, some, found.Endpoints); err != nil {
			return sender.Lookup{}, fmt.Errorf("endpoints of the tenants of a batch: %w", err)
		}
	}
	return found, nil
}

// lookUp adds the endpoints of tenants to those that were found.
func (s *subscriptions) lookUp(ctx context.Context, ids []string, found map[string]sender.Subscriptions) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	copied := s.copies.Begin()
	resp, err := s.directory.ListEndpoints(ctx, &tenantsv1.ListEndpointsRequest{
		TenantIds: ids, WithEndpoints: true, Cell: s.cell.Wire(),
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		found[id] = sender.Subscriptions{LookedUp: copied.ConfirmedAt}
	}
	for _, e := range resp.GetEndpoints() {
		found[e.GetTenantId()] = sender.Subscriptions{LookedUp: copied.ConfirmedAt, List: append(found[e.GetTenantId()].List, e)}
	}
	s.cache.put(copied, resp.GetVersions(), found)
	return nil
}
