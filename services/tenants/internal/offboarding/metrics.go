package offboarding

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/retentionclock"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// metrics says how long erasures have been overdue.
type metrics struct{ overdue atomic.Int64 }

func (m *metrics) read(ctx context.Context, tenants *store.Store) error {
	overdue, err := tenants.OverdueErasure(ctx)
	if err == nil {
		m.overdue.Store(int64(overdue))
	}
	return err
}

// New makes a worker. Its metric says for how long the erasure that is due longest has waited, or an erased tenant has not been
// checked.
func New(deps Deps, tel *telemetry.Telemetry) (*Worker, error) {
	w := &Worker{deps: deps, metrics: &metrics{}}
	_, err := tel.Meters.Meter("github.com/partnergifting/platform/services/tenants").Float64ObservableGauge("gifting.offboardings.overdue_age",
		metric.WithUnit("s"), metric.WithDescription("How long the erasure of a tenant that is due longest has waited."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(time.Duration(w.metrics.overdue.Load()).Seconds())
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of off-boardings: %w", err)
	}
	return w, nil
}

// Part is the periodic work.
func (w *Worker) Part(clock *retentionclock.Clock, tel *telemetry.Telemetry) daemon.Part {
	return clock.Every("offboardings", Interval, tel, w.Work)
}
