// Package limits bounds requests in a sliding window (API specification, section Limits). No window ever has more accepted
// requests than the limit: over all gateways through Redis, and per instance while Redis is unavailable. Refused requests do
// not count.
package limits

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Policy is a limit of requests in a window.
type Policy struct {
	// Name is the name in the RateLimit headers, a plain word.
	Name   string
	Limit  int
	Window time.Duration
}

// Verdict on one request.
type Verdict struct {
	Allowed   bool
	Remaining int
	// Reset is how long it takes until the oldest accepted request leaves the window. A refused caller should wait that long.
	Reset time.Duration
}

// WriteHeaders writes the headers of the IETF draft on rate limits.
func (p Policy) WriteHeaders(h http.Header, v Verdict) {
	name := `"` + p.Name + `"`
	h.Set("RateLimit-Policy", name+";q="+strconv.Itoa(p.Limit)+";w="+seconds(p.Window))
	h.Set("RateLimit", name+";r="+strconv.Itoa(v.Remaining)+";t="+seconds(v.Reset))
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// maxSubjects bounds the memory of a Window: beyond it, the subject seen longest ago is dropped.
const maxSubjects = 20_000

// Window counts in this process. It keeps the time of each accepted request, so the count is exact.
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
		panic(err) // The size is positive.
	}
	return lru
}

// SetFull records that all gateways together have used up the limit of a subject. Until there is room again this process
// accepts no request of it, even if Redis becomes unavailable.
func (w *Window) SetFull(subject string, reset time.Duration) {
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

// Exhausted reports whether the next request of the subject would be refused, without counting one.
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
