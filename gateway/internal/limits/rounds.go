package limits

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnergifting/platform/pkg/redisconn"
)

// rounds shares round trips to Redis: the requests that come while others are counted go together in the next trip.
// One for each would cost more than the counting, on both ends.
type rounds struct {
	redis  redis.UniversalClient
	policy Policy
	// budget bounds a trip and what a request waits for its own.
	budget time.Duration

	mu      sync.Mutex
	waiting []*turn
	running int
}

// turn is one request to be counted.
type turn struct {
	subject subject
	place   place
	done    chan struct{}
}

// subject is whose requests are counted: its keys, and what stands in their braces.
type subject struct{ tag, log, version string }

// atOnce is how many trips are under way at the most: more would be smaller ones, one would let a request wait for two.
const atOnce = 2

// run gives the verdict and the version, or an error when the budget or ctx ends before.
func (r *rounds) run(ctx context.Context, s subject) (_ Verdict, _ int64, err error) {
	ctx, span := redisconn.Start(ctx, "EVALSHA")
	defer func() { redisconn.End(span, err) }()
	t := &turn{subject: s, done: make(chan struct{})}
	r.join(t)
	budget := time.NewTimer(r.budget)
	defer budget.Stop()
	select {
	case <-t.done:
		return t.place.verdict()
	case <-budget.C:
		return Verdict{}, 0, context.DeadlineExceeded
	case <-ctx.Done():
		return Verdict{}, 0, fmt.Errorf("wait for Redis: %w", ctx.Err())
	}
}

func (r *rounds) join(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, t)
	if r.running < atOnce {
		r.running++
		go r.work()
	}
}

// work makes trips until nobody waits.
func (r *rounds) work() {
	for {
		runtime.Gosched() // Requests that are just about to join come along.
		together := r.leave()
		if len(together) == 0 {
			return
		}
		r.trip(together)
	}
}

// leave takes all that wait. Without any the worker is one less.
func (r *rounds) leave() []*turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	together := r.waiting
	r.waiting = nil
	if len(together) == 0 {
		r.running--
	}
	return together
}

// trip belongs to no single request, so that none takes the others along when its caller goes away.
func (r *rounds) trip(together []*turn) {
	ctx, cancel := context.WithTimeout(context.Background(), r.budget)
	defer cancel()
	// A Redis that was started again has no script. With its text they go together too: one by one, a full trip
	// would not be done within its budget.
	if unknown := r.send(ctx, r.calls(together), take.EvalSha); len(unknown) > 0 {
		r.send(ctx, unknown, take.Eval)
	}
	for _, t := range together {
		close(t.done)
	}
}

// calls are as few as may be. Only one server has all keys; a cluster knows that those of one tag are together.
func (r *rounds) calls(together []*turn) (calls []*call) {
	_, one := r.redis.(*redis.Client)
	last := make(map[string]*call, 1)
	for _, t := range together {
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
