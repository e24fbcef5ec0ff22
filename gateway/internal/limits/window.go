package limits

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// maxSubjects bounds the memory of a Window: beyond it, the subject seen longest ago is dropped.
	maxSubjects = 20_000
	// memory is how long a Window goes by what Redis said last of the other gateways.
	memory = 5 * time.Second
)

// Window counts in this process. It keeps the time of each accepted request, so the count is exact.
type Window struct {
	policy Policy
	clock  func() time.Time

	mu       sync.Mutex
	subjects *simplelru.LRU[string, []time.Time]
	shared   *simplelru.LRU[string, known]
}

// known is what Redis said last of a subject.
type known struct {
	// full is until when all gateways together have used up the limit.
	full time.Time
	// others is how many requests other gateways have accepted; until is how long to go by that.
	others int
	until  time.Time
}

// NewWindow makes an empty window.
func NewWindow(policy Policy, clock func() time.Time) *Window {
	return &Window{policy: policy, clock: clock, subjects: newLRU[[]time.Time](), shared: newLRU[known]()}
}

func newLRU[V any]() *simplelru.LRU[string, V] {
	lru, err := simplelru.NewLRU[string, V](maxSubjects, nil)
	if err != nil {
		panic(err) // The size is positive.
	}
	return lru
}

// follow remembers a verdict of Redis for the time when Redis does not answer.
func (w *Window) follow(subject string, v Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock()
	k := known{others: max(w.policy.Limit-v.Remaining-len(w.recent(subject, now)), 0), until: now.Add(memory)}
	if !v.Allowed {
		k.full = now.Add(v.Reset)
	}
	w.shared.Add(subject, k)
}

// Take counts a request of the subject if it is allowed, also by what Redis said last.
func (w *Window) Take(subject string) Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock()
	k, _ := w.shared.Get(subject)
	if k.full.After(now) {
		return Verdict{Reset: k.full.Sub(now)}
	}
	if !k.until.After(now) {
		k.others = 0
	}
	return w.countBeside(subject, now, k.others)
}

// count counts a request that Redis has accepted, unless this process alone has used up the limit.
func (w *Window) count(subject string, at time.Time) Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.countBeside(subject, at, 0)
}

func (w *Window) countBeside(subject string, at time.Time, others int) Verdict {
	accepted := w.recent(subject, at)
	if len(accepted)+others >= w.policy.Limit {
		return w.refusal(accepted, at)
	}
	accepted = append(accepted, at)
	w.subjects.Add(subject, accepted)
	return Verdict{
		Allowed:   true,
		Remaining: w.policy.Limit - len(accepted) - others,
		Reset:     accepted[0].Add(w.policy.Window).Sub(at),
	}
}

// refusal says to wait for the oldest request to leave the window. If only other gateways have accepted requests, it is not known
// when theirs leave.
func (w *Window) refusal(accepted []time.Time, now time.Time) Verdict {
	if len(accepted) == 0 {
		return Verdict{Reset: memory}
	}
	return Verdict{Reset: accepted[0].Add(w.policy.Window).Sub(now)}
}

// Exhausted reports whether the next request of the subject would be refused, without counting one.
func (w *Window) Exhausted(subject string) (Verdict, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock()
	accepted := w.recent(subject, now)
	if len(accepted) < w.policy.Limit {
		return Verdict{}, false
	}
	return w.refusal(accepted, now), true
}

func (w *Window) recent(subject string, now time.Time) []time.Time {
	accepted, _ := w.subjects.Get(subject)
	i := 0
	for i < len(accepted) && now.Sub(accepted[i]) >= w.policy.Window {
		i++
	}
	return accepted[i:]
}
