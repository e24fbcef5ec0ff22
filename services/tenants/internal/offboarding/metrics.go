package offboarding

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// New makes a worker. Its metric says for how long the erasure that is due longest has waited, or an erased tenant has not been
// checked.
func New(deps Deps, tel *telemetry.Telemetry) (*Worker, error) {
	overdue := telemetry.NewSample(deps.Store.OverdueErasure, time.Now, tel.Logger)
	_, err := tel.Meters.Meter("github.com/partnergifting/platform/services/tenants").Float64ObservableGauge("gifting.offboardings.overdue_age",
		metric.WithUnit("s"), metric.WithDescription("How long the erasure of a tenant that is due longest has waited."),
		metric.WithFloat64Callback(func(ctx context.Context, o metric.Float64Observer) error {
			if age, ok := overdue.Get(ctx); ok {
				o.Observe(age.Seconds())
			}
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of off-boardings: %w", err)
	}
	return &Worker{deps: deps}, nil
}

// Part is the periodic work.
func (w *Worker) Part(clock *daemon.RetentionClock, tel *telemetry.Telemetry) daemon.Part {
	return clock.Every("offboardings", Interval, tel, w.Work)
}
