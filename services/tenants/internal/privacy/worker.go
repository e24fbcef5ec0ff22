package privacy

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Worker is the part that continues pending erasures. Its metric says for how long the oldest one has been pending.
func Worker(c *Coordinator, tel *telemetry.Telemetry) (daemon.Part, error) {
	oldest := telemetry.NewSample(c.deps.Store.OldestPendingErasure, time.Now, tel.Logger)
	_, err := tel.Meters.Meter("github.com/partnergifting/platform/services/tenants").Float64ObservableGauge("gifting.erasures.pending_age",
		metric.WithUnit("s"), metric.WithDescription("How long ago the oldest erasure of a person that is not completed was requested."),
		metric.WithFloat64Callback(func(ctx context.Context, o metric.Float64Observer) error {
			if age, ok := oldest.Get(ctx); ok {
				o.Observe(age.Seconds())
			}
			return nil
		}))
	if err != nil {
		return daemon.Part{}, fmt.Errorf("metric of erasures: %w", err)
	}
	return daemon.Every("erasures", retryAfter, tel, c.ContinuePending), nil
}
