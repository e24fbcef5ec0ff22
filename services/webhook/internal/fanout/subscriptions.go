package fanout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/batcher"
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

// subscriptions looks up the endpoints of tenants. Waiting batches of all partitions share the next lookup. They never share
// one in flight, which may have read before an endpoint was set.
type subscriptions struct {
	directory tenantsv1.DirectoryServiceClient
	lookups   batcher.Batcher[*lookup]
}

// lookup is one batch's part of a lookup. The result is shared with other batches and must not be changed.
type lookup struct {
	tenants []string
	found   sender.Lookup
}

func newSubscriptions(directory tenantsv1.DirectoryServiceClient) *subscriptions {
	s := &subscriptions{directory: directory}
	s.lookups.Process, s.lookups.Timeout, s.lookups.MaxConcurrent, s.lookups.MaxItems = s.read, lookupTimeout, maxLookups, maxBatches
	return s
}

// of returns the endpoints of the batch's tenants, and possibly of others.
func (s *subscriptions) of(ctx context.Context, changes []change) (sender.Lookup, error) {
	if len(changes) == 0 {
		return sender.Lookup{}, nil
	}
	l := &lookup{}
	for _, c := range changes {
		l.tenants = append(l.tenants, c.GetTenantId())
	}
	if err := s.lookups.Do(ctx, l); err != nil {
		return sender.Lookup{}, fmt.Errorf("endpoints of the tenants of a batch: %w", err)
	}
	return l.found, nil
}

func (s *subscriptions) read(ctx context.Context, lookups []*lookup) error {
	var tenants []string
	for _, l := range lookups {
		tenants = append(tenants, l.tenants...)
	}
	slices.Sort(tenants)
	found := sender.Lookup{Began: time.Now(), Endpoints: map[string][]*tenantsv1.EndpointSubscription{}}
	for ids := range slices.Chunk(slices.Compact(tenants), maxTenants) {
		resp, err := s.directory.ListEndpoints(ctx, &tenantsv1.ListEndpointsRequest{TenantIds: ids, WithEndpoints: true})
		if err != nil {
			return err
		}
		for _, e := range resp.GetEndpoints() {
			found.Endpoints[e.GetTenantId()] = append(found.Endpoints[e.GetTenantId()], e)
		}
	}
	for _, l := range lookups {
		l.found = found
	}
	return nil
}
