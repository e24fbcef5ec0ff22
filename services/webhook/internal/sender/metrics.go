package sender

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

type metrics struct {
	outcomes               metric.Int64Counter
	duration, firstAttempt metric.Float64Histogram
}

func newMetrics(meter metric.Meter, schedule *schedule) (*metrics, error) {
	m := &metrics{}
	var err1, err2, err3 error
	m.outcomes, err1 = meter.Int64Counter("gifting.webhook.deliveries",
		metric.WithDescription("Claimed deliveries by their result, and dropped ones."))
	m.duration, err2 = meter.Float64Histogram("gifting.webhook.attempt.duration", metric.WithUnit("s"),
		metric.WithDescription("Time until a receiver responded or the request failed, by the class of the outcome."),
		telemetry.Durations())
	m.firstAttempt, err3 = meter.Float64Histogram("gifting.webhook.first_attempt.delay", metric.WithUnit("s"),
		metric.WithDescription("Time from a change to its delivery's first attempt, by the class of the outcome. "+
			"Deferred deliveries are left out, and those that may have waited for a slow or dead receiver."), telemetry.Delays())
	err := errors.Join(err1, err2, err3,
		observeByHealth(meter, "gifting.webhook.endpoints",
			"Endpoints that this process has tried within the last hour, by the health of their receivers.", schedule.count),
		observeByHealth(meter, "gifting.webhook.workers",
			"Workers of this process that endpoints of that health and worse ones together have.", schedule.workersUsed),
		observeByHealth(meter, "gifting.webhook.workers.limit",
			"Workers of this process that endpoints of that health and worse ones together may have.", schedule.workersLimit))
	if err != nil {
		return nil, err
	}
	// Each series exists before its first event, which a rate would otherwise miss.
	for _, outcome := range []string{delivered, failed, dropped, retry, notCounted, paused, unreadable, leaseLost, notRecorded} {
		m.count(context.Background(), outcome, 0)
	}
	return m, nil
}

// observeByHealth registers a gauge with a value for each health.
func observeByHealth(meter metric.Meter, name, description string, values func() map[health]int) error {
	_, err := meter.Int64ObservableGauge(name, metric.WithDescription(description),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			for class, n := range values() {
				o.Observe(int64(n), metric.WithAttributes(attribute.String("health", healthNames[class])))
			}
			return nil
		}))
	return err
}

// Results of a claimed delivery.
const (
	delivered   = "delivered"
	failed      = "failed"
	dropped     = "dropped"
	retry       = "retry"
	notCounted  = "not_counted"
	paused      = "paused"
	unreadable  = "unreadable"
	leaseLost   = "lease_lost"
	notRecorded = "not_recorded"
)

func (m *metrics) count(ctx context.Context, outcome string, n int) {
	m.outcomes.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// attempt records an attempt and, if it is the first that counts, its delay. It leaves out deferred deliveries, and changes that
// were made before the endpoint was last impaired: their delay does not show how slow the sender was.
func (m *metrics) attempt(ctx context.Context, d store.Delivery, a store.Attempt, v rules.Verdict, lastImpaired time.Time) {
	class := metric.WithAttributes(attribute.String("class", a.Outcome.Class))
	m.duration.Record(ctx, a.Duration.Seconds(), class)
	changed := rules.EventAt(d.EventID)
	if v.Counted && d.Attempts == 0 && !d.Deferred && !changed.IsZero() && changed.After(lastImpaired) {
		m.firstAttempt.Record(ctx, max(0, a.StartedAt.Sub(changed).Seconds()), class)
	}
}

func outcomeName(v rules.Verdict) string {
	switch {
	case v.State == rules.Delivered:
		return delivered
	case v.State == rules.Failed:
		return failed
	case v.State == rules.Dropped:
		return dropped
	case v.Counted:
		return retry
	default:
		return notCounted
	}
}
