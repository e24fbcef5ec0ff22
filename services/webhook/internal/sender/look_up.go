package sender

import (
	"context"
	"fmt"
	"slices"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// target is where an endpoint's deliveries go now. The zero value is an endpoint that is gone.
type target struct {
	url, secret string
	paused      bool
}

func (t target) gone() bool { return t.url == "" }

// lookUp asks for the endpoints of the deliveries. A key without an entry does not exist.
func (s *Sender) lookUp(ctx context.Context, deliveries []store.Delivery) (map[int32]target, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	keys := make([]int32, 0, len(deliveries))
	for _, d := range deliveries {
		keys = append(keys, d.KeyID)
	}
	slices.Sort(keys)
	resp, err := s.directory.GetEndpoints(ctx, &tenantsv1.GetEndpointsRequest{KeyIds: slices.Compact(keys)})
	if err != nil {
		return nil, fmt.Errorf("get endpoints: %w", err)
	}
	targets := make(map[int32]target, len(resp.GetEndpoints()))
	for _, e := range resp.GetEndpoints() {
		targets[e.GetKeyId()] = targetOf(e)
	}
	return targets, nil
}

// targetOf treats an answer it does not understand as a pause: nothing is sent, nothing is lost.
func targetOf(e *tenantsv1.Endpoint) target {
	switch e.GetState() {
	case tenantsv1.EndpointState_ENDPOINT_STATE_GONE:
		return target{}
	case tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE:
		return target{url: e.GetUrl(), secret: e.GetSecret(), paused: e.GetUrl() == "" || e.GetSecret() == ""}
	case tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED, tenantsv1.EndpointState_ENDPOINT_STATE_UNSPECIFIED:
		return target{paused: true}
	default:
		return target{paused: true}
	}
}
