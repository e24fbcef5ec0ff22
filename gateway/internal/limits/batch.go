package limits

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/batcher"
	"github.com/partnergifting/platform/pkg/redisconn"
)

const (
	// maxConcurrent is how many batches are in flight. With more, batches would be smaller; with one, a request could wait for
	// two round trips.
	maxConcurrent = 2
	maxBatch      = 1024
	// maxRun is how many requests one run of the script counts, because Redis serves no other client during a run.
	maxRun = 64
	// lateAnswer is how long a round trip may take. Requests wait no longer than their budget; a late answer says whether Redis has
	// counted them.
	lateAnswer = time.Second
)

// sharedWindow counts in Redis. Requests that arrive while others are being counted share the next round trip, because a round
// trip for each would cost more than the counting.
type sharedWindow struct {
	redis    redis.UniversalClient
	policy   Policy
	budget   time.Duration
	requests batcher.Batcher[*request]
	debts    debts
	clock    func() time.Time
	local    *Window
}

func newSharedWindow(client redis.UniversalClient, cfg Config, local *Window) *sharedWindow {
	w := &sharedWindow{redis: client, policy: cfg.Policy, budget: cfg.RedisBudget, clock: local.clock, local: local}
	w.debts = debts{policy: cfg.Policy, logs: map[string][]time.Time{}}
	w.requests = batcher.Batcher[*request]{
		Process: w.process, Timeout: max(cfg.RedisBudget, lateAnswer), MaxConcurrent: maxConcurrent, MaxItems: maxBatch,
	}
	return w
}

// take returns an error if the budget or ctx ends before the verdict.
func (w *sharedWindow) take(ctx context.Context, r *request) (_ Verdict, _ int64, err error) {
	ctx, span := redisconn.Start(ctx, "EVALSHA")
	defer func() { redisconn.End(span, err) }()
	ctx, cancel := context.WithTimeout(ctx, w.budget)
	defer cancel()
	if err := w.requests.Do(ctx, r); err != nil {
		return Verdict{}, 0, fmt.Errorf("wait for Redis: %w", err)
	}
	return r.verdict()
}

// owe remembers a request that this process has accepted alone, to be counted in Redis: by its own round trip if that is under
// way and succeeds, otherwise by the next one.
func (w *sharedWindow) owe(r *request, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owed = at
	switch r.stage {
	case waiting:
		r.stage = ended
		w.debts.add(r.subject.log, at)
	case sent: // Its end settles it.
	case ended:
		w.settle(r)
	}
}

// settle decides about a request that is owed and whose round trip has ended.
func (w *sharedWindow) settle(r *request) {
	verdict, _, err := r.verdict()
	if err == nil {
		w.local.follow(r.subject.log, verdict)
	}
	if err != nil || !verdict.Allowed || r.onlyAsks {
		w.debts.add(r.subject.log, r.owed)
	}
}

// process counts a batch, and what Redis is owed before it. Its calls are not part of the requests' traces.
func (w *sharedWindow) process(ctx context.Context, batch []*request) error {
	ctx = trace.ContextWithSpan(ctx, nil)
	batch = slices.DeleteFunc(batch, func(r *request) bool { return !r.begin() })
	runs := w.runs(batch)
	// A restarted Redis does not know the script. The runs are then sent again with its text, in one pipeline, because separate
	// calls would exceed the budget.
	if unknown := w.send(ctx, runs, takeScript.EvalSha); len(unknown) > 0 {
		w.send(ctx, unknown, takeScript.Eval)
	}
	for _, r := range batch {
		w.end(r)
	}
	return nil // Each run has its own error.
}

func (w *sharedWindow) end(r *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stage = ended
	if !r.owed.IsZero() {
		w.settle(r)
	}
}

// runs divides a batch into as few runs as possible. A single server has all keys; in a cluster only keys with the same tag
// are on the same server.
func (w *sharedWindow) runs(batch []*request) (runs []*scriptRun) {
	_, single := w.redis.(*redis.Client)
	last := make(map[string]*scriptRun, 1)
	for _, r := range batch {
		tag := r.subject.tag
		if single {
			tag = ""
		}
		if last[tag] == nil || last[tag].requests == maxRun {
			last[tag] = &scriptRun{}
			runs = append(runs, last[tag])
		}
		last[tag].add(r)
	}
	return runs
}

// send sends the runs in one pipeline and returns those for which Redis does not know the script.
func (w *sharedWindow) send(
	ctx context.Context, runs []*scriptRun, eval func(context.Context, redis.Scripter, []string, ...any) *redis.Cmd,
) (unknown []*scriptRun) {
	pipe := w.redis.Pipeline()
	settled := w.debts.settle(ctx, pipe, w.clock())
	for _, run := range runs {
		run.answer = eval(ctx, pipe, run.keys(), run.args(w.policy)...)
	}
	_, _ = pipe.Exec(ctx) // Each command has its own error.
	settled()
	for _, run := range runs {
		if redis.HasErrorPrefix(run.answer.Err(), "NOSCRIPT") {
			unknown = append(unknown, run)
		}
	}
	return unknown
}
