package sender

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// Telemetry is where a sender tells what it does.
type Telemetry struct {
	Logger *slog.Logger
	Meter  metric.Meter
	// Tracer nil: attempts are in no trace.
	Tracer trace.Tracer
}

type metrics struct {
	outcomes            metric.Int64Counter
	duration, firstTime metric.Float64Histogram
}

func newMetrics(meter metric.Meter) (*metrics, error) {
	m := &metrics{}
	var errs [3]error
	m.outcomes, errs[0] = meter.Int64Counter("gifting.webhook.deliveries",
		metric.WithDescription("Claimed deliveries by what became of them."))
	m.duration, errs[1] = meter.Float64Histogram("gifting.webhook.attempt.duration", metric.WithUnit("s"),
		metric.WithDescription("Time a receiver took to answer, or to fail to, by the class of the outcome."), telemetry.Durations())
	m.firstTime, errs[2] = meter.Float64Histogram("gifting.webhook.first_attempt.delay", metric.WithUnit("s"),
		metric.WithDescription("From a change to its delivery's first attempt, by the class of the outcome."), telemetry.Delays())
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("sender metrics: %w", err)
	}
	// The series are there before the first of each: a rate would miss that one otherwise.
	for _, outcome := range []string{delivered, failed, dropped, retry, notCounted, paused, leaseLost, notRecorded} {
		m.count(context.Background(), outcome, 0)
	}
	return m, nil
}

// What becomes of a claimed delivery.
const (
	delivered   = "delivered"
	failed      = "failed"
	dropped     = "dropped"
	retry       = "retry"
	notCounted  = "not_counted"
	paused      = "paused"
	leaseLost   = "lease_lost"
	notRecorded = "not_recorded"
)

func (m *metrics) count(ctx context.Context, outcome string, n int) {
	m.outcomes.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// attempt tells of an attempt and, when it is the first that counts, how late it was.
func (m *metrics) attempt(ctx context.Context, d store.Delivery, a store.Attempt, v rules.Verdict) {
	class := metric.WithAttributes(attribute.String("class", a.Outcome.Class))
	m.duration.Record(ctx, a.Duration.Seconds(), class)
	changed := rules.EventAt(d.EventID)
	if v.Counted && d.Attempts == 0 && !d.Resent && !changed.IsZero() {
		m.firstTime.Record(ctx, max(0, a.StartedAt.Sub(changed).Seconds()), class)
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
