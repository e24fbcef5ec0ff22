package fanout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/batcher"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// lookupTime ends a look-up that hangs; its messages are tried again.
	lookupTime = 5 * time.Second
	// lookupsAtOnce lets a batch that comes in during a look-up not wait for its end, and yet several share one.
	lookupsAtOnce = 2
	// mostInLookup bounds the batches of one look-up, which share its fate.
	mostInLookup = 16
	// mostInCall is how many tenants the directory lets a call name.
	mostInCall = 1000
)

// subscriptions reads the endpoints of tenants. The batches of all partitions that wait go together in the next look-up,
// never in one that is under way: that one may have read before an endpoint was set.
type subscriptions struct {
	directory tenantsv1.DirectoryServiceClient
	runs      batcher.Batcher[*lookup]
}

// endpoints are those of each tenant.
type endpoints map[string][]*tenantsv1.EndpointSubscription

// lookup is what a batch asks for. What is found may be that of other batches too, so nobody changes it.
type lookup struct {
	tenants []string
	found   endpoints
}

func newSubscriptions(directory tenantsv1.DirectoryServiceClient) *subscriptions {
	s := &subscriptions{directory: directory}
	s.runs.Process, s.runs.Timeout, s.runs.MaxConcurrent, s.runs.MaxItems = s.read, lookupTime, lookupsAtOnce, mostInLookup
	return s
}

// of gives the endpoints of every tenant of the batch, and perhaps of others.
func (s *subscriptions) of(ctx context.Context, changes []change) (endpoints, error) {
	if len(changes) == 0 {
		return endpoints{}, nil
	}
	l := &lookup{}
	for _, c := range changes {
		l.tenants = append(l.tenants, c.GetTenantId())
	}
	if err := s.runs.Do(ctx, l); err != nil {
		return nil, fmt.Errorf("endpoints of the tenants of a batch: %w", err)
	}
	return l.found, nil
}

func (s *subscriptions) read(ctx context.Context, lookups []*lookup) error {
	var tenants []string
	for _, l := range lookups {
		tenants = append(tenants, l.tenants...)
	}
	slices.Sort(tenants)
	found := endpoints{}
	for ids := range slices.Chunk(slices.Compact(tenants), mostInCall) {
		resp, err := s.directory.ListEndpoints(ctx, &tenantsv1.ListEndpointsRequest{TenantIds: ids})
		if err != nil {
			return err
		}
		for _, e := range resp.GetEndpoints() {
			found[e.GetTenantId()] = append(found[e.GetTenantId()], e)
		}
	}
	for _, l := range lookups {
		l.found = found
	}
	return nil
}
