// Package limits bounds requests in a sliding window (API specification, section Limits). No window has more accepted requests
// than the limit: over all gateways through Redis, and in each process at any rate. Refused requests do not count.
//
// While Redis does not answer in time, a process counts alone. What it then accepts is owed to Redis and reaches it with the next
// round trip, so several gateways together exceed the limit at most by what Redis did not know of yet.
package limits

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

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
	Redis redis.UniversalClient
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

	clock       func() time.Time
	log         *slog.Logger
	shared      *sharedWindow // Nil without Redis.
	local       *Window
	fallback    metric.Int64Counter
	labels      map[string]metric.MeasurementOption
	failures    atomic.Int64
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
		Policy: cfg.Policy, clock: deps.Clock, log: deps.Log, local: NewWindow(cfg.Policy, deps.Clock), fallback: fallback,
		labels: map[string]metric.MeasurementOption{},
	}
	causes := []string{notConfigured}
	if deps.Redis != nil {
		l.shared = newSharedWindow(deps.Redis, cfg, l.local)
		causes = []string{slow, failed, paused}
	}
	for _, cause := range causes {
		l.labels[cause] = metric.WithAttributeSet(attribute.NewSet(attribute.String("limiter", cfg.Policy.Name), attribute.String("cause", cause)))
		fallback.Add(context.Background(), 0, l.labels[cause]) // The series exists before the first outage.
	}
	return l, nil
}

// TakeKey counts a request of an API key. It also returns the version of the tenant's settings, or zero if that is unknown.
func (l *Limiter) TakeKey(ctx context.Context, tenantID string, keyID int32) (Verdict, int64) {
	return l.take(ctx, keySubject(tenantID, keyID))
}

func keySubject(tenantID string, keyID int32) subject {
	return subject{
		tag: tenantID, log: "gifting:requests:{" + tenantID + "}:" + strconv.Itoa(int(keyID)),
		version: "gifting:tenant-version:{" + tenantID + "}",
	}
}

// Version returns the version of the tenant's settings, or zero if it is unknown, without counting a request of the key.
func (l *Limiter) Version(ctx context.Context, tenantID string, keyID int32) int64 {
	if l.shared == nil || l.clock().UnixNano() < l.pausedUntil.Load() {
		return 0
	}
	_, version, err := l.shared.take(ctx, &request{subject: keySubject(tenantID, keyID), onlyAsks: true})
	if err != nil {
		l.fail(ctx, err)
		return 0
	}
	l.succeed(ctx)
	return version
}

// TakeIP counts a request of a client address.
func (l *Limiter) TakeIP(ctx context.Context, ip string) Verdict {
	verdict, _ := l.take(ctx, subject{tag: ip, log: "gifting:visits:{" + ip + "}:" + l.Name})
	return verdict
}

func (l *Limiter) take(ctx context.Context, s subject) (Verdict, int64) {
	began, r := l.clock(), &request{subject: s}
	var cause string
	switch {
	case l.shared == nil:
		cause = notConfigured
	case began.UnixNano() < l.pausedUntil.Load():
		cause = paused
	default:
		verdict, version, err := l.takeShared(ctx, r, began)
		if err == nil {
			return verdict, version
		}
		cause = l.fail(ctx, err)
	}
	l.fallback.Add(ctx, 1, l.labels[cause])
	verdict := l.local.Take(s.log)
	if verdict.Allowed && l.shared != nil {
		l.shared.owe(r, began)
	}
	return verdict, 0
}

// takeShared counts a request in Redis, unless this process alone has used up the limit already: Redis may have lost its data, or
// not know yet what it is owed.
func (l *Limiter) takeShared(ctx context.Context, r *request, began time.Time) (Verdict, int64, error) {
	own, exhausted := l.local.Exhausted(r.subject.log)
	r.onlyAsks = exhausted
	verdict, version, err := l.shared.take(ctx, r)
	if err != nil {
		return verdict, version, err
	}
	l.succeed(ctx)
	if exhausted {
		return own, version, nil
	}
	if verdict.Allowed {
		if own := l.local.count(r.subject.log, began); !own.Allowed {
			return own, version, nil
		}
	}
	l.local.follow(r.subject.log, verdict)
	return verdict, version, nil
}

// fail begins a pause after several failures and returns the cause of this one.
func (l *Limiter) fail(ctx context.Context, err error) string {
	cause := failed
	if errors.Is(err, context.DeadlineExceeded) {
		cause = slow
	}
	if ctx.Err() != nil {
		return cause // The caller has left.
	}
	failures := l.failures.Add(1)
	if failures >= maxFailures {
		l.pausedUntil.Store(l.clock().Add(pause).UnixNano())
	}
	if failures == maxFailures {
		l.log.WarnContext(ctx, "Redis does not answer in time: this instance counts requests alone",
			"limiter", l.Name, "cause", cause, "error", err)
	}
	return cause
}

func (l *Limiter) succeed(ctx context.Context) {
	if l.failures.Load() != 0 && l.failures.Swap(0) >= maxFailures {
		l.log.InfoContext(ctx, "Redis answers in time again", "limiter", l.Name)
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
	h.Set("RateLimit-Policy", name+";q="+strconv.Itoa(p.Limit)+";w="+seconds(p.Window))
	h.Set("RateLimit", name+";r="+strconv.Itoa(v.Remaining)+";t="+seconds(v.Reset))
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
