package telemetry

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/partnergifting/platform/pkg/version"
)

// serviceLabel is on every series, so that rules do not depend on how the services are scraped.
const serviceLabel = "service_name"

// newResource describes the process. The service's name wins over OTEL_SERVICE_NAME, which could
// only be the same for all services of one process.
func newResource(ctx context.Context, service string) (*resource.Resource, error) {
	res, err := resource.New(ctx, resource.WithHost(), resource.WithFromEnv(), resource.WithAttributes(
		semconv.ServiceName(service), semconv.ServiceVersion(version.String())))
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return res, nil
}

func newRegistry(service string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	prometheus.WrapRegistererWith(prometheus.Labels{serviceLabel: service}, registry).MustRegister(
		collectors.NewGoCollector(), collectors.NewBuildInfoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}
