package fanout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/tenants"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
)

const (
	// lookupTimeout ends a lookup that takes too long; its messages are tried again.
	lookupTimeout = 5 * time.Second
	// maxLookups is how many lookups run concurrently. With two, a batch that arrives during a lookup need not wait for its
	// end, and later batches share the next one.
	maxLookups = 2
	// maxBatches is how many batches share a lookup: they succeed or fail together.
	maxBatches = 16
	// maxTenants is how many tenants a call asks for: the response has several URLs of each, of up to 2 KB.
	maxTenants = 200
)

// subscriptions looks up the endpoints of tenants, unless it knows those of the versions that are published now. Waiting batches of
// all partitions share the next lookup. They never share one in flight, which may have read before an endpoint was set.
type subscriptions struct {
	directory tenantsv1.DirectoryServiceClient
	versions  *tenants.VersionReader
	cache     cache
	lookups   daemon.Batcher[*lookup]
}

// lookup is one batch's part of a lookup. The result is shared with other batches and must not be changed.
type lookup struct {
	tenants []string
	found   sender.Lookup
}

func newSubscriptions(directory tenantsv1.DirectoryServiceClient, versions *tenants.VersionReader) *subscriptions {
	s := &subscriptions{directory: directory, versions: versions, cache: cache{byTenant: map[string]cacheEntry{}}}
	s.lookups.Process, s.lookups.Timeout = s.readEndpoints, lookupTimeout
	s.lookups.MaxConcurrent, s.lookups.MaxItems = maxLookups, maxBatches
	return s
}

// endpointsOf returns the endpoints of the batch's tenants, and possibly of others.
func (s *subscriptions) endpointsOf(ctx context.Context, changes []change) (sender.Lookup, error) {
	if len(changes) == 0 {
		return sender.Lookup{}, nil
	}
	tenants := make([]string, len(changes))
	for i, c := range changes {
		tenants[i] = c.GetTenantId()
	}
	slices.Sort(tenants)
	known, missing := s.cachedEndpoints(ctx, slices.Compact(tenants))
	if len(missing) == 0 {
		return known, nil
	}
	l := &lookup{tenants: missing}
	if err := s.lookups.Do(ctx, l); err != nil {
		return sender.Lookup{}, fmt.Errorf("endpoints of the tenants of a batch: %w", err)
	}
	if len(known.Endpoints) == 0 {
		return l.found, nil
	}
	for _, tenant := range missing {
		known.Endpoints[tenant] = l.found.Endpoints[tenant]
	}
	return known, nil
}

// cachedEndpoints returns the endpoints that need no lookup, and the other tenants.
func (s *subscriptions) cachedEndpoints(ctx context.Context, tenants []string) (known sender.Lookup, missing []string) {
	known = sender.Lookup{Began: time.Now(), Endpoints: map[string]sender.Subscriptions{}}
	published := s.versions.Published(ctx, tenants)
	for _, tenant := range tenants {
		if endpoints, ok := s.cache.get(tenant, published[tenant]); ok {
			known.Endpoints[tenant] = endpoints
		} else {
			missing = append(missing, tenant)
		}
	}
	return known, missing
}

func (s *subscriptions) readEndpoints(ctx context.Context, lookups []*lookup) error {
	var tenants []string
	for _, l := range lookups {
		tenants = append(tenants, l.tenants...)
	}
	slices.Sort(tenants)
	found := sender.Lookup{Began: time.Now(), Endpoints: map[string]sender.Subscriptions{}}
	for ids := range slices.Chunk(slices.Compact(tenants), maxTenants) {
		began := time.Now()
		resp, err := s.directory.ListEndpoints(ctx, &tenantsv1.ListEndpointsRequest{TenantIds: ids, WithEndpoints: true})
		if err != nil {
			return err
		}
		for _, id := range ids {
			found.Endpoints[id] = sender.Subscriptions{LookedUp: began}
		}
		for _, e := range resp.GetEndpoints() {
			found.Endpoints[e.GetTenantId()] = sender.Subscriptions{LookedUp: began, List: append(found.Endpoints[e.GetTenantId()].List, e)}
		}
		s.cache.put(resp.GetVersions(), found.Endpoints)
	}
	for _, l := range lookups {
		l.found = found
	}
	return nil
}
