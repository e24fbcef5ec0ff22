package privacy

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Worker is the part that continues pending erasures. Its metric says for how long the oldest one has been pending.
func Worker(c *Coordinator, tel *telemetry.Telemetry) (daemon.Part, error) {
	var oldest atomic.Int64
	_, err := tel.Meters.Meter("github.com/partnergifting/platform/services/tenants").Float64ObservableGauge("gifting.erasures.pending_age",
		metric.WithUnit("s"), metric.WithDescription("How long ago the oldest erasure of a person that is not completed was requested."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(time.Duration(oldest.Load()).Seconds())
			return nil
		}))
	if err != nil {
		return daemon.Part{}, fmt.Errorf("metric of erasures: %w", err)
	}
	return daemon.Every("erasures", retryAfter, tel, func(ctx context.Context) error {
		attempted := c.ContinuePending(ctx)
		age, err := c.deps.Store.OldestPendingErasure(ctx)
		if err == nil {
			oldest.Store(int64(age))
		}
		return errors.Join(attempted, err)
	}), nil
}
