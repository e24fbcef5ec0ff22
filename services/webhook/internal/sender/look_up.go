package sender

import (
	"context"
	"fmt"
	"slices"
	"time"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// target is where an endpoint's deliveries go now. The zero value is an endpoint that is gone.
type target struct {
	url, secret string
	paused      bool
}

func (t target) gone() bool { return t.url == "" && !t.paused }

// targets are those of keys that were asked for.
type targets map[int32]target

// lookAhead is a look-up that runs beside a claim.
type lookAhead struct {
	began  time.Time
	answer chan answered
}

type answered struct {
	targets targets
	err     error
}

// freshFor is how long a claim may take for what was looked up beside it to be as good as asked for after it.
const freshFor = time.Second

// lookUpAhead asks for the targets of the keys beside what the caller does meanwhile, until ctx ends.
func (s *Sender) lookUpAhead(ctx context.Context, keys []int32) lookAhead {
	ahead := lookAhead{began: time.Now(), answer: make(chan answered, 1)}
	if len(keys) == 0 {
		ahead.answer <- answered{}
		return ahead
	}
	s.workers.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		found, err := s.lookUp(ctx, keys)
		ahead.answer <- answered{found, err}
	})
	return ahead
}

// lookUpRest asks for the targets of those deliveries that the look-up ahead cannot tell: of keys that it did not ask
// for, of all when the claim took long, and of an endpoint that it found gone, because that is final.
func (s *Sender) lookUpRest(ctx context.Context, deliveries []store.Delivery, ahead lookAhead) (targets, error) {
	var known targets
	if time.Since(ahead.began) < freshFor {
		answer := <-ahead.answer
		if answer.err != nil {
			return nil, answer.err
		}
		known = answer.targets
	}
	var keys []int32
	for _, d := range deliveries {
		if known[d.KeyID].gone() {
			keys = append(keys, d.KeyID)
		}
	}
	if len(keys) == 0 {
		return known, nil
	}
	rest, err := s.lookUp(ctx, keys)
	if err != nil {
		return nil, err
	}
	for key, to := range known {
		if !to.gone() {
			rest[key] = to
		}
	}
	return rest, nil
}

// lookUp asks for the targets of the keys. A key that the answer leaves out does not exist.
func (s *Sender) lookUp(ctx context.Context, keys []int32) (targets, error) {
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
