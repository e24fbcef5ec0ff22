package limits

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/batcher"
	"github.com/partnergifting/platform/pkg/redisconn"
)

// rounds shares round trips to Redis: the requests that come while others are counted go together in the next trip.
// One for each would cost more than the counting, on both ends.
type rounds struct {
	redis  redis.UniversalClient
	policy Policy
	// budget bounds what a request waits for its trip.
	budget time.Duration
	trips  batcher.Batcher[*turn]
}

// turn is one request to be counted.
type turn struct {
	subject subject
	place   place
}

// subject is whose requests are counted: its keys, and what stands in their braces.
type subject struct{ tag, log, version string }

const (
	// atOnce is how many trips are under way at the most: more would be smaller ones, one would let a request wait for two.
	atOnce = 2
	// mostInTrip bounds what a trip carries.
	mostInTrip = 1024
)

func newRounds(o Options) *rounds {
	r := &rounds{redis: o.Redis, policy: o.Policy, budget: o.Budget}
	r.trips = batcher.Batcher[*turn]{Process: r.trip, Timeout: o.Budget, MaxConcurrent: atOnce, MaxItems: mostInTrip}
	return r
}

// run gives the verdict and the version, or an error when the budget or ctx ends before.
func (r *rounds) run(ctx context.Context, s subject) (_ Verdict, _ int64, err error) {
	ctx, span := redisconn.Start(ctx, "EVALSHA")
	defer func() { redisconn.End(span, err) }()
	ctx, cancel := context.WithTimeout(ctx, r.budget)
	defer cancel()
	t := &turn{subject: s}
	if err := r.trips.Do(ctx, t); err != nil {
		return Verdict{}, 0, fmt.Errorf("wait for Redis: %w", err)
	}
	return t.place.verdict()
}

// trip belongs to no single request, nor to its trace.
func (r *rounds) trip(ctx context.Context, turns []*turn) error {
	ctx = trace.ContextWithSpan(ctx, nil)
	// A Redis that was started again has no script. With its text they go together too: one by one, a full trip
	// would not be done within its budget.
	if unknown := r.send(ctx, r.calls(turns), take.EvalSha); len(unknown) > 0 {
		r.send(ctx, unknown, take.Eval)
	}
	return nil // Each place has its own error.
}

// calls are as few as may be. Only one server has all keys; a cluster knows that those of one tag are together.
func (r *rounds) calls(turns []*turn) (calls []*call) {
	_, one := r.redis.(*redis.Client)
	last := make(map[string]*call, 1)
	for _, t := range turns {
		tag := t.subject.tag
		if one {
			tag = ""
		}
		if last[tag] == nil || last[tag].size == mostInCall {
			last[tag] = &call{}
			calls = append(calls, last[tag])
		}
		t.place = last[tag].add(t.subject)
	}
	return calls
}

// send runs the script for all, and gives those to whom Redis said that it has none.
func (r *rounds) send(
	ctx context.Context, calls []*call, run func(context.Context, redis.Scripter, []string, ...any) *redis.Cmd,
) (unknown []*call) {
	pipe := r.redis.Pipeline()
	for _, c := range calls {
		c.answer = run(ctx, pipe, c.keys(), c.args(r.policy)...)
	}
	_, _ = pipe.Exec(ctx) // Each answer has its own error.
	for _, c := range calls {
		if redis.HasErrorPrefix(c.answer.Err(), "NOSCRIPT") {
			unknown = append(unknown, c)
		}
	}
	return unknown
}
