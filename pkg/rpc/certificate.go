package rpc

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// openIdentity reads the files of a process, and measures until when the certificate in use is valid.
func openIdentity(cfg identity.Config, tel *telemetry.Telemetry) (*identity.Files, error) {
	files, err := identity.Open(cfg, time.Now, tel.Logger)
	if err != nil {
		return nil, err
	}
	_, err = tel.Meters.Meter(scope).Float64ObservableGauge("gifting.certificate.not_after", metric.WithUnit("s"),
		metric.WithDescription("When the certificate in use ends, in seconds since 1970."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(float64(files.Until().Unix()))
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of the certificate: %w", err)
	}
	return files, nil
}
