// Package limits bounds requests in a sliding window: never more than the limit in any window,
// exactly, over all gateways through Redis and per instance while Redis is away (API
// specification, section Limits). A refused request does not count.
package limits

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Policy is a limit of requests in a window.
type Policy struct {
	// Name stands in the RateLimit headers.
	Name   string
	Limit  int
	Window time.Duration
}

// Verdict on one request.
type Verdict struct {
	Allowed   bool
	Remaining int
	// Reset is when the window has room again, or all of its room; at least until then a refused
	// caller should wait.
	Reset time.Duration
}

// maxSubjects bounds the memory of a Window; past it the subject seen longest ago goes.
const maxSubjects = 20_000

// Window counts in this process. Each subject has the times of its accepted requests, so the
// count is exact.
type Window struct {
	policy Policy
	clock  func() time.Time

	mu       sync.Mutex
	subjects *simplelru.LRU[string, []time.Time]
	full     *simplelru.LRU[string, time.Time]
}

// NewWindow makes an empty window.
func NewWindow(policy Policy, clock func() time.Time) *Window {
	return &Window{policy: policy, clock: clock, subjects: newLRU[[]time.Time](), full: newLRU[time.Time]()}
}

func newLRU[V any]() *simplelru.LRU[string, V] {
	lru, err := simplelru.NewLRU[string, V](maxSubjects, nil)
	if err != nil {
		panic(err) // Only a size that is not positive gets here.
	}
	return lru
}

// Full takes note that all gateways together have used up the subject's requests, as Redis said it:
// until there is room again this process accepts none either, should Redis fall silent.
func (w *Window) Full(subject string, reset time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.full.Add(subject, w.clock().Add(reset))
}

// Take counts a request of the subject if it is allowed.
func (w *Window) Take(subject string) Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock()
	if until, _ := w.full.Get(subject); until.After(now) {
		return Verdict{Reset: until.Sub(now)}
	}
	accepted := w.recent(subject, now)
	if len(accepted) >= w.policy.Limit {
		return Verdict{Reset: accepted[0].Add(w.policy.Window).Sub(now)}
	}
	accepted = append(accepted, now)
	w.subjects.Add(subject, accepted)
	return Verdict{
		Allowed:   true,
		Remaining: w.policy.Limit - len(accepted),
		Reset:     accepted[0].Add(w.policy.Window).Sub(now),
	}
}

// Exhausted says whether the subject's next request would be refused, without counting one.
func (w *Window) Exhausted(subject string) (Verdict, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock()
	accepted := w.recent(subject, now)
	if len(accepted) < w.policy.Limit {
		return Verdict{}, false
	}
	return Verdict{Reset: accepted[0].Add(w.policy.Window).Sub(now)}, true
}

func (w *Window) recent(subject string, now time.Time) []time.Time {
	accepted, _ := w.subjects.Get(subject)
	i := 0
	for i < len(accepted) && now.Sub(accepted[i]) >= w.policy.Window {
		i++
	}
	return accepted[i:]
}
