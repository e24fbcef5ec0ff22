package limits

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	// pause is how long Redis is not used after maxFailures in a row, so that an outage does not delay every request.
	pause = time.Second
	// maxFailures in a row are an outage. A single slow response is not.
	maxFailures = 3
)

// Deps are what a Limiter works with.
type Deps struct {
	// Redis nil: the limiter counts in this process only.
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

// TakeKey counts a request of an API key. It also returns the version of the tenant's settings, zero if unknown.
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
