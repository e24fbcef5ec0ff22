package webhook

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// observe reports the deliveries that wait.
func observe(deliveries *store.Store, tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter("github.com/partnergifting/platform/services/webhook")
	count, err := meter.Int64ObservableGauge("gifting.webhook.waiting_deliveries",
		metric.WithDescription("Deliveries that are not finished."))
	if err != nil {
		return err
	}
	oldest, err := meter.Float64ObservableGauge("gifting.webhook.oldest_waiting_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest delivery that is not finished."))
	if err != nil {
		return err
	}
	due, err := meter.Float64ObservableGauge("gifting.webhook.oldest_due_age", metric.WithUnit("s"),
		metric.WithDescription("The longest time that a delivery has been due to an endpoint without a request in flight."))
	if err != nil {
		return err
	}
	sample := telemetry.NewSample(deliveries.Waiting, time.Now, tel.Logger)
	_, err = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		if waiting, ok := sample.Get(ctx); ok {
			o.ObserveInt64(count, waiting.Deliveries)
			o.ObserveFloat64(oldest, waiting.Oldest.Seconds())
			o.ObserveFloat64(due, waiting.Due.Seconds())
		}
		return nil
	}, count, oldest, due)
	return err
}
