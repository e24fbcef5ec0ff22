package sender

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const (
	// goneInterval is how often the sender looks for endpoints that are gone, by a search that also returns those that have
	// nothing due.
	goneInterval = 5 * time.Second
	// maxLookup is how many endpoints are looked up in one call.
	maxLookup = 1000
	// maxDropped bounds how long a statement locks the rows that it drops.
	maxDropped = 1000
)

// dropGone drops the deliveries of pending endpoints whose keys are revoked or have no URL any more: otherwise they would wait
// for their next attempt, up to half a day. The deliveries were stored before the endpoints are looked up, so they are not of an
// endpoint that is set again afterwards. A key that the tenants service does not know is left to the attempts: its database
// may be about to be restored.
func (s *Sender) dropGone(ctx context.Context, found store.Found) error {
	for chunk := range slices.Chunk(found.Pending, maxLookup) {
		gone, err := s.lookUpGone(ctx, chunk)
		if err != nil {
			return err
		}
		for _, e := range chunk {
			if !gone[e.KeyID] {
				continue
			}
			if err := s.drop(ctx, e, found.At); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUpGone returns the keys of those endpoints that are gone.
func (s *Sender) lookUpGone(ctx context.Context, list []store.Endpoint) (map[int32]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	keys := make([]int32, len(list))
	for i, e := range list {
		keys[i] = e.KeyID
	}
	resp, err := s.directory.GetEndpoints(ctx, &tenantsv1.GetEndpointsRequest{KeyIds: keys})
	if err != nil {
		return nil, fmt.Errorf("look for endpoints that are gone: %w", err)
	}
	gone := map[int32]bool{}
	for _, e := range resp.GetEndpoints() {
		gone[e.GetKeyId()] = e.GetState() == tenantsv1.EndpointState_ENDPOINT_STATE_GONE
	}
	return gone, nil
}

// drop drops the deliveries of an endpoint that were stored until then, in batches.
func (s *Sender) drop(ctx context.Context, e store.Endpoint, stored time.Time) error {
	var (
		since time.Time
		total int
	)
	err := daemon.InBatches(ctx, maxDropped, func(ctx context.Context, limit int) (n int, err error) {
		n, since, err = s.store.Drop(ctx, e, stored, since, limit)
		total += n
		return n, err
	})
	if total > 0 {
		s.metrics.count(ctx, dropped, total)
		s.log.InfoContext(ctx, "dropped the deliveries of an endpoint that is gone", "key_id", e.KeyID, "deliveries", total)
	}
	return err
}
