package limits

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxSubjects bounds the memory of a Window: beyond it, the subject seen longest ago is dropped.
const maxSubjects = 20_000

// Window counts in this process. It keeps the time of each accepted request, so the count is exact.
type Window struct {
	policy Policy
	clock  func() time.Time

	mu       sync.Mutex
	subjects *simplelru.LRU[string, []time.Time]
}

// NewWindow makes an empty window.
func NewWindow(policy Policy, clock func() time.Time) *Window {
	subjects, err := simplelru.NewLRU[string, []time.Time](maxSubjects, nil)
	if err != nil {
		panic(err) // The size is positive.
	}
	return &Window{policy: policy, clock: clock, subjects: subjects}
}

// Take counts a request of the subject if it is allowed.
func (w *Window) Take(subject string) Verdict { return w.count(subject, w.clock()) }

func (w *Window) count(subject string, at time.Time) Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	accepted := w.recent(subject, at)
	if len(accepted) >= w.policy.Limit {
		return w.refusal(accepted, at)
	}
	accepted = append(accepted, at)
	w.subjects.Add(subject, accepted)
	return Verdict{Allowed: true, Remaining: w.policy.Limit - len(accepted), Reset: accepted[0].Add(w.policy.Window).Sub(at)}
}

// refusal says to wait for the oldest request to leave the window.
func (w *Window) refusal(accepted []time.Time, now time.Time) Verdict {
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
