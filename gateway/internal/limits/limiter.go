// Package limits bounds requests in a sliding window (API specification, section Limits). No window has more accepted requests
// than the limit: over all gateways through Redis, and always in each process. Refused requests do not count.
//
// A process counts what it accepts, whether Redis answers in time or not. So while Redis does not, each gateway applies the limit
// alone. Afterwards it still counts what it accepted meanwhile, of which Redis does not know.
package limits

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/daemon"
)

const (
	// pause is how long Redis is not used after maxFailures, so that an outage does not delay every request.
	pause = time.Second
	// maxFailures is how many writes must fail in a row to count as an outage. A single slow response does not.
	maxFailures = 3
)

// The causes for which a process counts alone, which are values of a label.
const (
	notConfigured = "not_configured"
	slow          = "slow"
	failed        = "failed"
	paused        = "paused"
)

// Deps are what a Limiter works with.
type Deps struct {
	// Redis may be nil: the limiter then counts only in this process.
	Redis *redis.Client
	Meter metric.Meter
	Clock func() time.Time
	Log   *slog.Logger
}

// Config of a Limiter.
type Config struct {
	Policy Policy
	// RedisBudget is how long a request waits for Redis.
	RedisBudget time.Duration
}

// Limiter counts in Redis, and in this process while Redis does not answer in time.
type Limiter struct {
	Policy

	clock    func() time.Time
	log      *slog.Logger
	redis    *redis.Client // Nil without Redis.
	asks     *daemon.Batcher[*ask]
	budget   time.Duration
	local    *Window
	fallback metric.Int64Counter
	failures atomic.Int64
	// pausedUntil is in nanoseconds since began, which do not change if somebody sets the clock.
	began       time.Time
	pausedUntil atomic.Int64
}

// New makes a Limiter.
func New(deps Deps, cfg Config) (*Limiter, error) {
	fallback, err := deps.Meter.Int64Counter("gifting.gateway.limiter.fallback",
		metric.WithDescription("Requests counted per instance because Redis did not answer in time, by cause."))
	if err != nil {
		return nil, fmt.Errorf("limiter metric: %w", err)
	}
	l := &Limiter{
		Policy: cfg.Policy, clock: deps.Clock, log: deps.Log, redis: deps.Redis, budget: cfg.RedisBudget,
		local: NewWindow(cfg.Policy, deps.Clock), fallback: fallback, began: deps.Clock(),
	}
	// A write fails before a request that began it stops waiting: the next request already knows.
	timeout := cfg.RedisBudget * 9 / 10
	l.asks = &daemon.Batcher[*ask]{Process: l.send, Timeout: timeout, MaxConcurrent: maxWrites, MaxItems: maxAsks}
	causes := []string{notConfigured}
	if deps.Redis != nil {
		causes = []string{slow, failed, paused}
	}
	for _, cause := range causes {
		l.countFallback(context.Background(), cause, 0) // The series exists before the first outage.
	}
	return l, nil
}

// TakeKey counts a request of an API key. It also returns the version of the tenant's settings, or zero if that is unknown.
func (l *Limiter) TakeKey(ctx context.Context, tenantID string, keyID int32) (Verdict, int64) {
	return l.take(ctx, keySubject(tenantID, keyID))
}

// Version returns the version of the tenant's settings, or zero if it is unknown, without counting a request of the key.
func (l *Limiter) Version(ctx context.Context, tenantID string, keyID int32) int64 {
	if l.redis == nil || l.isPaused() {
		return 0
	}
	_, version, err := l.takeShared(ctx, keySubject(tenantID, keyID), false)
	if err != nil {
		return 0
	}
	return version
}

// TakeIP counts a request of a client address.
func (l *Limiter) TakeIP(ctx context.Context, ip string) Verdict {
	verdict, _ := l.take(ctx, subject{log: "gifting:visits:{" + ip + "}:" + l.Name})
	return verdict
}

func (l *Limiter) take(ctx context.Context, s subject) (Verdict, int64) {
	var cause string
	switch {
	case l.redis == nil:
		cause = notConfigured
	case l.isPaused():
		cause = paused
	default:
		began := l.clock()
		own, exhausted := l.local.Exhausted(s.log)
		verdict, version, err := l.takeShared(ctx, s, !exhausted)
		if err == nil {
			if !exhausted && verdict.Allowed {
				own = l.local.count(s.log, began)
			}
			if exhausted || verdict.Allowed && !own.Allowed {
				return own, version // Redis may have lost its data.
			}
			return verdict, version
		}
		cause = causeOf(err)
	}
	if ctx.Err() == nil { // Else the caller has left.
		l.countFallback(ctx, cause, 1)
	}
	return l.local.Take(s.log), 0
}

func (l *Limiter) countFallback(ctx context.Context, cause string, n int64) {
	l.fallback.Add(ctx, n, metric.WithAttributes(attribute.String("limiter", l.Name), attribute.String("cause", cause)))
}

func (l *Limiter) isPaused() bool { return int64(l.clock().Sub(l.began)) < l.pausedUntil.Load() }

func causeOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return slow
	}
	return failed
}

// record notes how a write to Redis ended. A pause begins after several that failed.
func (l *Limiter) record(ctx context.Context, err error) {
	if err == nil {
		if l.failures.Load() != 0 && l.failures.Swap(0) >= maxFailures {
			l.log.InfoContext(ctx, "Redis answers in time again", "limiter", l.Name)
		}
		return
	}
	failures := l.failures.Add(1)
	if failures >= maxFailures {
		l.pausedUntil.Store(int64(l.clock().Sub(l.began) + pause))
	}
	if failures == maxFailures {
		l.log.WarnContext(ctx, "Redis does not answer in time: this instance counts requests alone",
			"limiter", l.Name, "cause", causeOf(err), "error", err)
	}
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
	h.Set("RateLimit-Policy", name+";q="+strconv.Itoa(p.Limit)+";w="+httperror.Seconds(p.Window))
	h.Set("RateLimit", name+";r="+strconv.Itoa(v.Remaining)+";t="+httperror.Seconds(v.Reset))
}

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
