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
	redis redis.UniversalClient
	// budget bounds a trip and what a request waits for its own.
	budget time.Duration

	mu      sync.Mutex
	waiting []*turn
	running int
}

// turn is one run of the script.
type turn struct {
	keys   []string
	args   []any
	answer *redis.Cmd
	done   chan struct{}
}

// atOnce is how many trips are under way at the most: more would be smaller ones, one would let a request wait for two.
const atOnce = 2

// run gives the script's answer, or an error when the budget or ctx ends before.
func (r *rounds) run(ctx context.Context, keys []string, args ...any) (_ []any, err error) {
	ctx, span := redisconn.Start(ctx, "EVALSHA")
	defer func() { redisconn.End(span, err) }()
	t := &turn{keys: keys, args: args, done: make(chan struct{})}
	r.join(t)
	budget := time.NewTimer(r.budget)
	defer budget.Stop()
	select {
	case <-t.done:
		return t.answer.Slice()
	case <-budget.C:
		return nil, context.DeadlineExceeded
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for Redis: %w", ctx.Err())
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
	if unknown := r.send(ctx, together, take.EvalSha); len(unknown) > 0 {
		r.send(ctx, unknown, take.Eval)
	}
	for _, t := range together {
		close(t.done)
	}
}

// send runs the script for all, and gives those to whom Redis said that it has none.
func (r *rounds) send(
	ctx context.Context, together []*turn, run func(context.Context, redis.Scripter, []string, ...any) *redis.Cmd,
) (unknown []*turn) {
	pipe := r.redis.Pipeline()
	for _, t := range together {
		t.answer = run(ctx, pipe, t.keys, t.args...)
	}
	_, _ = pipe.Exec(ctx) // Each answer has its own error.
	for _, t := range together {
		if redis.HasErrorPrefix(t.answer.Err(), "NOSCRIPT") {
			unknown = append(unknown, t)
		}
	}
	return unknown
}
