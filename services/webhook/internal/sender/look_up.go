package sender

import (
	"context"
	"fmt"
	"maps"
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

// targets are those of keys that were asked for.
type targets map[int32]target

// answered is a look-up that is done.
type answered struct {
	targets targets
	err     error
}

// lookUpAhead asks for the targets of the keys beside what the caller does meanwhile.
func (s *Sender) lookUpAhead(ctx context.Context, keys []int32) <-chan answered {
	done := make(chan answered, 1)
	if len(keys) == 0 {
		done <- answered{}
		return done
	}
	s.workers.Go(func() {
		found, err := s.lookUp(ctx, keys)
		done <- answered{found, err}
	})
	return done
}

// lookUpRest asks for the targets of those deliveries that the look-up ahead did not know of.
func (s *Sender) lookUpRest(ctx context.Context, deliveries []store.Delivery, ahead answered) (targets, error) {
	var keys []int32
	for _, d := range deliveries {
		if _, found := ahead.targets[d.KeyID]; !found {
			keys = append(keys, d.KeyID)
		}
	}
	if ahead.err != nil || len(keys) == 0 {
		return ahead.targets, ahead.err
	}
	rest, err := s.lookUp(ctx, keys)
	if err != nil {
		return nil, err
	}
	maps.Copy(rest, ahead.targets)
	return rest, nil
}

// lookUp asks for the targets of the keys. A key that the answer leaves out does not exist.
func (s *Sender) lookUp(ctx context.Context, keys []int32) (targets, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	slices.Sort(keys)
	keys = slices.Compact(keys)
	resp, err := s.directory.GetEndpoints(ctx, &tenantsv1.GetEndpointsRequest{KeyIds: keys})
	if err != nil {
		return nil, fmt.Errorf("get endpoints: %w", err)
	}
	found := make(targets, len(keys))
	for _, key := range keys {
		found[key] = target{}
	}
	for _, e := range resp.GetEndpoints() {
		found[e.GetKeyId()] = targetOf(e)
	}
	return found, nil
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
