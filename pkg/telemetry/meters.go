package telemetry

import (
	"context"
	"fmt"

	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// openMeters makes the meters behind /metrics and, where metrics leave, OTLP. Histograms keep
// exemplars of sampled traces.
func (t *Telemetry) openMeters(ctx context.Context, res *resource.Resource, out exports) error {
	scraped, err := otelprom.New(
		otelprom.WithRegisterer(t.registry),
		// The names must not depend on what a scraper says it understands.
		otelprom.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes),
		otelprom.WithoutScopeInfo(),
		otelprom.WithResourceAsConstantLabels(attribute.NewAllowKeysFilter(semconv.ServiceNameKey)),
	)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(res), sdkmetric.WithReader(scraped)}
	if !out.traces {
		options = append(options, sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter))
	}
	if out.metrics {
		exporter, err := otlpmetricgrpc.New(ctx)
		if err != nil {
			return fmt.Errorf("metric exporter: %w", err)
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.Meters = provider
	t.shutdown = append(t.shutdown, provider.Shutdown)
	return nil
}

// Durations are the bounds of a histogram of calls, those the semantic conventions advise.
func Durations() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10)
}

// Delays are the bounds of a histogram of what should take moments and may take minutes.
func Delays() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 600)
}
