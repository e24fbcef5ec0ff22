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

// observe tells of the units that are held for orders about to commit.
func (s *Service) observe(st *store.Store) error {
	sample := telemetry.NewSample(st.Outstanding, time.Now, s.tel.Logger)
	meter := s.tel.Meters.Meter("github.com/partnergifting/platform/services/catalog")
	var errs [3]error
	units, err := meter.Int64ObservableGauge("gifting.catalog.reservations.outstanding",
		metric.WithDescription("Units held for orders about to commit."))
	errs[0] = err
	overdue, err := meter.Float64ObservableGauge("gifting.catalog.reservations.overdue_age", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest held unit is past its expiry."))
	errs[1] = err
	_, errs[2] = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		if held, ok := sample.Get(ctx); ok {
			o.ObserveInt64(units, held.Units)
			o.ObserveFloat64(overdue, held.Overdue.Seconds())
		}
		return nil
	}, units, overdue)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("metrics of the catalog: %w", err)
	}
	return nil
}
