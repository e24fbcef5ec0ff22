package sender

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// Telemetry is where a sender tells what it does.
type Telemetry struct {
	Logger *slog.Logger
	Meter  metric.Meter
}

type metrics struct {
	outcomes metric.Int64Counter
	duration metric.Float64Histogram
}

func newMetrics(meter metric.Meter) (*metrics, error) {
	outcomes, err := meter.Int64Counter("gifting.webhook.deliveries",
		metric.WithDescription("Claimed deliveries by what became of them."))
	if err != nil {
		return nil, fmt.Errorf("sender metrics: %w", err)
	}
	duration, err := meter.Float64Histogram("gifting.webhook.attempt.duration",
		metric.WithDescription("Time a receiver took to answer, or to fail to."), metric.WithUnit("s"))
	if err != nil {
		return nil, fmt.Errorf("sender metrics: %w", err)
	}
	return &metrics{outcomes: outcomes, duration: duration}, nil
}

func (m *metrics) count(ctx context.Context, outcome string, n int) {
	m.outcomes.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}

func (m *metrics) attempt(ctx context.Context, took time.Duration) {
	m.duration.Record(ctx, took.Seconds())
}

func outcomeName(v rules.Verdict) string {
	switch {
	case v.State == rules.Delivered:
		return "delivered"
	case v.State == rules.Failed:
		return "failed"
	case v.State == rules.Dropped:
		return "dropped"
	case v.Counted:
		return "retry"
	default:
		return "not_counted"
	}
}
