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

// take is a sliding log in a list, the times of the accepted requests on the clock of Redis. One round trip carries the
// count and the version of the tenant's settings.
var take = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local oldest = redis.call('LINDEX', KEYS[1], 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], 0)
end
local allowed, n = 0, limit
if oldest then n = redis.call('LLEN', KEYS[1]) else oldest, n = now, 0 end
if n < limit then
  allowed = 1
  n = redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))
end
local version = false
if KEYS[2] then version = redis.call('GET', KEYS[2]) end
return {allowed, limit - n, oldest + window - now, version or ''}
`)

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
	return &Limiter{Options: o, rounds: &rounds{redis: o.Redis, budget: o.Budget}, local: NewWindow(o.Policy, o.Clock), fallback: fallback, label: label}, nil
}

// TakeKey counts a request of an API key and gives the version of its tenant's settings, or zero
// when it is not known.
func (l *Limiter) TakeKey(ctx context.Context, tenantID string, keyID int32) (Verdict, int64) {
	counter := "gifting:requests:{" + tenantID + "}:" + strconv.Itoa(int(keyID))
	return l.take(ctx, counter, "gifting:tenant-version:{"+tenantID+"}")
}

// TakeIP counts a request of a client address.
func (l *Limiter) TakeIP(ctx context.Context, ip string) Verdict {
	verdict, _ := l.take(ctx, "gifting:visits:{"+ip+"}:"+l.Policy.Name)
	return verdict
}

func (l *Limiter) take(ctx context.Context, keys ...string) (Verdict, int64) {
	if l.Redis != nil && l.Clock().UnixNano() >= l.pausedUntil.Load() {
		verdict, version, err := l.takeRedis(ctx, keys)
		if err == nil {
			l.faults.Store(0)
			l.remember(keys[0], verdict)
			return verdict, version
		}
		if ctx.Err() == nil && l.faults.Add(1) >= patience {
			l.pausedUntil.Store(l.Clock().Add(pause).UnixNano())
		}
	}
	l.fallback.Add(ctx, 1, l.label)
	return l.local.Take(keys[0]), 0
}

// remember keeps the window of this process near the shared one, should Redis go away.
func (l *Limiter) remember(counter string, v Verdict) {
	if v.Allowed {
		l.local.Take(counter)
		return
	}
	l.local.Full(counter, v.Reset)
}

func (l *Limiter) takeRedis(ctx context.Context, keys []string) (Verdict, int64, error) {
	raw, err := l.rounds.run(ctx, keys, l.Policy.Limit, l.Policy.Window.Microseconds())
	if err != nil {
		return Verdict{}, 0, fmt.Errorf("count request: %w", err)
	}
	allowed, _ := raw[0].(int64)
	remaining, _ := raw[1].(int64)
	micros, _ := raw[2].(int64)
	versionText, _ := raw[3].(string)
	// A version that is not there or not a number is not known.
	version, _ := strconv.ParseInt(versionText, 10, 64)
	return Verdict{
		Allowed: allowed == 1, Remaining: int(remaining), Reset: time.Duration(micros) * time.Microsecond,
	}, version, nil
}
