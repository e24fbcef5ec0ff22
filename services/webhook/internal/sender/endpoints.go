package sender

import (
	"context"
	"fmt"
	"slices"
	"time"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

const (
	// lookupTimeout bounds a lookup of endpoints.
	lookupTimeout = 3 * time.Second
	// maxLookupAge is how old an earlier lookup may be. An older one is repeated: keys may have been revoked and secrets rotated
	// since.
	maxLookupAge = 100 * time.Millisecond
)

// endpoint is the current endpoint of a key. The zero value is an endpoint that is gone.
type endpoint struct {
	url     string
	secrets webhookclient.Secrets
	grants  rules.Grants
	paused  bool
}

func (e endpoint) gone() bool { return e.url == "" && !e.paused }

// mustDrop reports whether a delivery is to be dropped: its key has no endpoint, or may not see the event any more.
func (e endpoint) mustDrop(d store.Delivery) bool {
	return e.gone() || !e.paused && !rules.Sees(e.grants, d.Type, d.BrandID)
}

// endpoints maps the keys that were looked up to their endpoints.
type endpoints map[int32]endpoint

// earlierLookup is a lookup from before the deliveries were leased; the zero value is none.
type earlierLookup struct {
	began time.Time
	found endpoints
}

// endpointsOf returns the endpoints of the deliveries. If the earlier lookup is too old, it looks up all of them. Otherwise it
// looks up those that the earlier lookup did not include, and those of deliveries that it would drop, because dropping is final.
func (s *Sender) endpointsOf(ctx context.Context, deliveries []store.Delivery, earlier earlierLookup) (endpoints, error) {
	if time.Since(earlier.began) >= s.maxLookupAge {
		earlier.found = nil
	}
	var keys []int32
	for _, d := range deliveries {
		if earlier.found[d.KeyID].mustDrop(d) {
			keys = append(keys, d.KeyID)
		}
	}
	if len(keys) == 0 {
		return earlier.found, nil
	}
	found, err := s.lookUp(ctx, keys)
	if err != nil {
		return nil, err
	}
	for key, e := range earlier.found {
		if !slices.Contains(keys, key) {
			found[key] = e
		}
	}
	return found, nil
}

// lookUp reads the endpoints of the keys from the tenants service. It leaves out keys that do not exist:
// their endpoints are gone.
func (s *Sender) lookUp(ctx context.Context, keys []int32) (endpoints, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	slices.Sort(keys)
	began := time.Now()
	resp, err := s.directory.GetEndpoints(ctx, &tenantsv1.GetEndpointsRequest{KeyIds: slices.Compact(keys), Cell: s.cell.Wire()})
	if err != nil {
		return nil, fmt.Errorf("get endpoints: %w", err)
	}
	found := make(endpoints, len(keys))
	for _, e := range resp.GetEndpoints() {
		found[e.GetKeyId()] = endpointOf(e, began)
	}
	return found, nil
}

// endpointOf treats an unknown state as a pause: nothing is sent and nothing is lost.
func endpointOf(e *tenantsv1.Endpoint, lookedUp time.Time) endpoint {
	switch e.GetState() {
	case tenantsv1.EndpointState_ENDPOINT_STATE_GONE:
		return endpoint{}
	case tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE:
		return endpoint{
			url: e.GetUrl(), grants: e, secrets: webhookclient.SecretsOf(e, lookedUp), paused: e.GetUrl() == "" || e.GetSecret() == "",
		}
	default:
		return endpoint{paused: true}
	}
}
