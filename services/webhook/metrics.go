package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// ofSender is where the sender tells what it does.
func (s *Service) ofSender(meter metric.Meter) sender.Telemetry {
	t := sender.Telemetry{Logger: s.tel.Logger, Meter: meter}
	if s.tel.Tracing {
		t.Tracer = s.tel.Tracers.Tracer(scope)
	}
	return t
}

// observe tells of the deliveries that wait.
func (s *Service) observe(deliveries *store.Store, meter metric.Meter) error {
	sample := telemetry.NewSample(deliveries.Waiting, time.Now, s.tel.Logger)
	var errs [4]error
	count, err := meter.Int64ObservableGauge("gifting.webhook.waiting_deliveries",
		metric.WithDescription("Deliveries that are not finished."))
	errs[0] = err
	oldest, err := meter.Float64ObservableGauge("gifting.webhook.oldest_waiting_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest delivery that is not finished."))
	errs[1] = err
	due, err := meter.Float64ObservableGauge("gifting.webhook.oldest_due_age", metric.WithUnit("s"),
		metric.WithDescription("How long the delivery that is due for longest has been due, where nobody is sending."))
	errs[2] = err
	_, errs[3] = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		if waiting, ok := sample.Get(ctx); ok {
			o.ObserveInt64(count, waiting.Deliveries)
			o.ObserveFloat64(oldest, waiting.Oldest.Seconds())
			o.ObserveFloat64(due, waiting.Due.Seconds())
		}
		return nil
	}, count, oldest, due)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("metrics of the webhooks: %w", err)
	}
	return nil
}
