package telemetry

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// exports says which signals are exported by OTLP.
type exports struct {
	traces, metrics, logs bool
}

// samplers are the values of OTEL_TRACES_SAMPLER that the SDK knows.
func samplers() []string {
	return []string{
		"", "always_on", "always_off", "traceidratio",
		"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
	}
}

// readExports reads the standard variables. Values that the SDK would silently ignore are errors, so that a typo is not noticed
// only by missing spans.
func readExports() (exported exports, err error) {
	if err := checkSampler(); err != nil {
		return exported, err
	}
	for _, signal := range []struct {
		name string
		on   *bool
	}{{"TRACES", &exported.traces}, {"METRICS", &exported.metrics}, {"LOGS", &exported.logs}} {
		if *signal.on, err = isExported(signal.name); err != nil {
			return exports{}, err
		}
	}
	return exported, nil
}

func checkSampler() error {
	sampler, argument := standard("OTEL_TRACES_SAMPLER"), standard("OTEL_TRACES_SAMPLER_ARG")
	if !slices.Contains(samplers(), sampler) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER: %q is no sampler of %s", sampler, strings.Join(samplers()[1:], ", "))
	}
	if argument == "" || !strings.HasSuffix(sampler, "traceidratio") {
		return nil
	}
	// The SDK would record all traces instead.
	if ratio, err := strconv.ParseFloat(argument, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %q is no number from 0 to 1", argument)
	}
	return nil
}

// isExported reports whether the signal is exported by OTLP.
func isExported(signal string) (bool, error) {
	switch exporter := standard("OTEL_" + signal + "_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "", "otlp":
	default:
		return false, fmt.Errorf("OTEL_%s_EXPORTER: %q is neither otlp nor none", signal, exporter)
	}
	if standard("OTEL_SDK_DISABLED") == "true" || otlpSetting(signal, "ENDPOINT") == "" {
		return false, nil
	}
	if protocol := otlpSetting(signal, "PROTOCOL"); protocol != "" && protocol != "grpc" {
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL or OTEL_EXPORTER_OTLP_%s_PROTOCOL: %q is not supported, only grpc is",
			signal, protocol)
	}
	return true, nil
}

// otlpSetting returns a setting of a signal, or else the one for all signals.
func otlpSetting(signal, setting string) string {
	if own := standard("OTEL_EXPORTER_OTLP_" + signal + "_" + setting); own != "" {
		return own
	}
	return standard("OTEL_EXPORTER_OTLP_" + setting)
}

// standard returns the value of a variable in lower case, because OpenTelemetry specifies that case does not matter.
func standard(name string) string { return strings.ToLower(strings.TrimSpace(os.Getenv(name))) }

// openTracers makes the tracers. The sampler is the one of OTEL_TRACES_SAMPLER, by default parentbased_always_on.
func (t *Telemetry) openTracers(ctx context.Context, res *resource.Resource, exported exports) error {
	if !exported.traces {
		t.Tracers = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()), sdktrace.WithResource(res))
		return nil
	}
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return fmt.Errorf("span exporter: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	t.Tracers = provider
	sampler := standard("OTEL_TRACES_SAMPLER")
	t.SamplingInherited = sampler == "" || strings.HasPrefix(sampler, "parentbased_")
	t.shutdown = append(t.shutdown, provider.Shutdown)
	return nil
}

// openMeters makes the meters behind /metrics and, if metrics are exported, OTLP. Histograms keep exemplars of sampled traces.
func (t *Telemetry) openMeters(ctx context.Context, res *resource.Resource, exported exports) error {
	scraped, err := otelprom.New(
		otelprom.WithRegisterer(t.registry),
		// The names must not depend on the scraper's Accept header.
		otelprom.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes),
		otelprom.WithoutScopeInfo(),
		otelprom.WithResourceAsConstantLabels(attribute.NewAllowKeysFilter(semconv.ServiceNameKey)),
	)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(res), sdkmetric.WithReader(scraped)}
	if !exported.traces {
		options = append(options, sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter))
	}
	if exported.metrics {
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

// Durations are the bounds of a histogram of calls, as the semantic conventions advise.
func Durations() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10)
}

// Delays are the bounds of a histogram of delays from milliseconds to minutes.
func Delays() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 600)
}
