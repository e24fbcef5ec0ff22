// Package limits bounds requests in a sliding window (API specification, section Limits). No window has more accepted requests
// than the limit: over all gateways through Redis, or per instance while Redis is unavailable. Refused requests do not count.
package limits

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	// pause is how long Redis is not used after maxFailures, so that an outage does not delay every request.
	pause = time.Second
	// maxFailures is how many consecutive failures count as an outage. A single slow response does not.
	maxFailures = 3
)

// Deps are what a Limiter works with.
type Deps struct {
	// Redis may be nil: the limiter then counts only in this process.
	Redis redis.UniversalClient
	Meter metric.Meter
	Clock func() time.Time
}

// Config of a Limiter.
type Config struct {
	Policy Policy
	// RedisBudget is how long a request waits for Redis.
	RedisBudget time.Duration
}

// Limiter counts in Redis, and in this process while Redis does not respond.
type Limiter struct {
	Policy

	clock       func() time.Time
	shared      *sharedWindow // Nil without Redis.
	local       *Window
	fallback    metric.Int64Counter
	label       metric.MeasurementOption
	failures    atomic.Int64
	pausedUntil atomic.Int64
}

// New makes a Limiter.
func New(deps Deps, cfg Config) (*Limiter, error) {
	fallback, err := deps.Meter.Int64Counter("gifting.gateway.limiter.fallback",
		metric.WithDescription("Requests counted per instance because Redis did not respond."))
	if err != nil {
		return nil, fmt.Errorf("limiter metric: %w", err)
	}
	label := metric.WithAttributeSet(attribute.NewSet(attribute.String("limiter", cfg.Policy.Name)))
	fallback.Add(context.Background(), 0, label) // The series exists before the first outage.
	l := &Limiter{
		Policy: cfg.Policy, clock: deps.Clock, local: NewWindow(cfg.Policy, deps.Clock), fallback: fallback, label: label,
	}
	if deps.Redis != nil {
		l.shared = newSharedWindow(deps.Redis, cfg)
	}
	return l, nil
}

// TakeKey counts a request of an API key. It also returns the version of the tenant's settings, or zero if that is unknown.
func (l *Limiter) TakeKey(ctx context.Context, tenantID string, keyID int32) (Verdict, int64) {
	return l.take(ctx, subject{
		tag: tenantID, log: "gifting:requests:{" + tenantID + "}:" + strconv.Itoa(int(keyID)),
		version: "gifting:tenant-version:{" + tenantID + "}",
	})
}

// TakeIP counts a request of a client address.
func (l *Limiter) TakeIP(ctx context.Context, ip string) Verdict {
	verdict, _ := l.take(ctx, subject{tag: ip, log: "gifting:visits:{" + ip + "}:" + l.Name})
	return verdict
}

func (l *Limiter) take(ctx context.Context, s subject) (Verdict, int64) {
	if l.shared != nil && l.clock().UnixNano() >= l.pausedUntil.Load() {
		verdict, version, err := l.shared.take(ctx, s)
		if err == nil {
			l.failures.Store(0)
			l.follow(s.log, verdict)
			return verdict, version
		}
		if ctx.Err() == nil && l.failures.Add(1) >= maxFailures {
			l.pausedUntil.Store(l.clock().Add(pause).UnixNano())
		}
	}
	l.fallback.Add(ctx, 1, l.label)
	return l.local.Take(s.log), 0
}

// follow keeps the window of this process close to the shared one, in case Redis becomes unavailable.
func (l *Limiter) follow(log string, v Verdict) {
	if v.Allowed {
		l.local.Take(log)
		return
	}
	l.local.SetFull(log, v.Reset)
}

// Policy is a limit of requests in a window.
type Policy struct {
	// Name is the name in the RateLimit headers, a plain word.
	Name   string
	Limit  int
	Window time.Duration
}

// Verdict is the decision on one request.
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

// SetFull records that all gateways together have used up the limit of a subject. Until reset has passed, this process accepts
// no request of it, even if Redis becomes unavailable.
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
