package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// openTracers makes the tracers. The sampler is the one of OTEL_TRACES_SAMPLER, by default parentbased_always_on.
func (t *Telemetry) openTracers(ctx context.Context, res *resource.Resource, out exports) error {
	if !out.traces {
		t.Tracers = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()), sdktrace.WithResource(res))
		return nil
	}
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return fmt.Errorf("span exporter: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	t.Tracers = provider
	t.shutdown = append(t.shutdown, provider.Shutdown)
	return nil
}
