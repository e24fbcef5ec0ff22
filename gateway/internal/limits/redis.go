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
	defaultBudget = 50 * time.Millisecond
	// pause is how long Redis is left alone after several faults in a row, so that an outage does
	// not cost each request its budget.
	pause = time.Second
	// patience is how many faults in a row make an outage: a single slow answer is none.
	patience = 3
)

// Options of a limiter.
type Options struct {
	Policy Policy
	// Redis nil: the limiter counts in this process alone.
	Redis redis.UniversalClient
	// Budget is what a request may spend on Redis. Zero: 50 ms.
	Budget time.Duration
	Meter  metric.Meter
	Clock  func() time.Time
}

// Limiter counts in Redis, and in this process while Redis does not answer.
type Limiter struct {
	Options

	rounds      *rounds
	local       *Window
	fallback    metric.Int64Counter
	label       metric.MeasurementOption
	faults      atomic.Int64
	pausedUntil atomic.Int64
}

// New makes a limiter.
func New(o Options) (*Limiter, error) {
	fallback, err := o.Meter.Int64Counter("gifting.gateway.limiter.fallback",
		metric.WithDescription("Requests counted per instance because Redis did not answer."))
	if err != nil {
		return nil, fmt.Errorf("limiter metric: %w", err)
	}
	label := metric.WithAttributeSet(attribute.NewSet(attribute.String("limiter", o.Policy.Name)))
	fallback.Add(context.Background(), 0, label) // The series is there before the first outage.
	if o.Budget == 0 {
		o.Budget = defaultBudget
	}
	return &Limiter{Options: o, rounds: newRounds(o), local: NewWindow(o.Policy, o.Clock), fallback: fallback, label: label}, nil
}

// TakeKey counts a request of an API key and gives the version of its tenant's settings, or zero
// when it is not known.
func (l *Limiter) TakeKey(ctx context.Context, tenantID string, keyID int32) (Verdict, int64) {
	return l.take(ctx, subject{
		tag: tenantID, log: "gifting:requests:{" + tenantID + "}:" + strconv.Itoa(int(keyID)),
		version: "gifting:tenant-version:{" + tenantID + "}",
	})
}

// TakeIP counts a request of a client address.
func (l *Limiter) TakeIP(ctx context.Context, ip string) Verdict {
	verdict, _ := l.take(ctx, subject{tag: ip, log: "gifting:visits:{" + ip + "}:" + l.Policy.Name})
	return verdict
}

func (l *Limiter) take(ctx context.Context, s subject) (Verdict, int64) {
	if l.Redis != nil && l.Clock().UnixNano() >= l.pausedUntil.Load() {
		verdict, version, err := l.rounds.run(ctx, s)
		if err == nil {
			l.faults.Store(0)
			l.remember(s.log, verdict)
			return verdict, version
		}
		if ctx.Err() == nil && l.faults.Add(1) >= patience {
			l.pausedUntil.Store(l.Clock().Add(pause).UnixNano())
		}
	}
	l.fallback.Add(ctx, 1, l.label)
	return l.local.Take(s.log), 0
}

// remember keeps the window of this process near the shared one, should Redis go away.
func (l *Limiter) remember(counter string, v Verdict) {
	if v.Allowed {
		l.local.Take(counter)
		return
	}
	l.local.Full(counter, v.Reset)
}
