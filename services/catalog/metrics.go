package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// observe reports the units that are held for orders about to commit.
func observe(records *store.Store, tel *telemetry.Telemetry) error {
	sample := telemetry.NewSample(records.Outstanding, time.Now, tel.Logger)
	meter := tel.Meters.Meter("github.com/partnergifting/platform/services/catalog")
	units, errUnits := meter.Int64ObservableGauge("gifting.catalog.reservations.outstanding",
		metric.WithDescription("Units held for orders about to commit."))
	overdue, errOverdue := meter.Float64ObservableGauge("gifting.catalog.reservations.overdue_age", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest held unit is past its expiry."))
	_, errCallback := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		if held, ok := sample.Get(ctx); ok {
			o.ObserveInt64(units, held.Units)
			o.ObserveFloat64(overdue, held.Overdue.Seconds())
		}
		return nil
	}, units, overdue)
	if err := errors.Join(errUnits, errOverdue, errCallback); err != nil {
		return fmt.Errorf("metrics of the catalog: %w", err)
	}
	return nil
}
