// Package telemetry gives a process its logger, tracer, meters and metrics port. Nothing in it is
// global, so that several services can live in one process.
//
// Spans leave by OTLP when the standard variable OTEL_EXPORTER_OTLP_ENDPOINT is set; without it
// trace ids are made all the same, because they are the request ids of the API.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config of a process's telemetry.
type Config struct {
	LogLevel slog.Level `env:"LOG_LEVEL" envDefault:"INFO" doc:"DEBUG, INFO, WARN or ERROR."`
	// MetricsAddr empty: no metrics port.
	MetricsAddr string `env:"METRICS_ADDR" doc:"host:port of /metrics, /livez and /readyz; empty: none."`
}

// Telemetry of one service.
type Telemetry struct {
	Logger  *slog.Logger
	Tracers trace.TracerProvider
	Meters  metric.MeterProvider

	registry    *prometheus.Registry
	metricsAddr string
	shutdown    func(ctx context.Context) error
}

// New makes the telemetry of the named service; logs go to w as JSON lines.
func New(ctx context.Context, service string, cfg Config, w io.Writer) (*Telemetry, error) {
	res := resource.NewSchemaless(attribute.String("service.name", service))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry))
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	traces, err := tracerProvider(ctx, res)
	if err != nil {
		return nil, err
	}
	return &Telemetry{
		Logger:      newLogger(w, service, cfg.LogLevel),
		Tracers:     traces,
		Meters:      sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithResource(res)),
		registry:    registry,
		metricsAddr: cfg.MetricsAddr,
		shutdown:    traces.Shutdown,
	}, nil
}

func tracerProvider(ctx context.Context, res *resource.Resource) (*sdktrace.TracerProvider, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()), sdktrace.WithResource(res)), nil
	}
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("span exporter: %w", err)
	}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res)), nil
}

// Discard is telemetry that records nothing, for tests.
func Discard() *Telemetry {
	return &Telemetry{
		Logger:   slog.New(slog.DiscardHandler),
		Tracers:  sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())),
		Meters:   sdkmetric.NewMeterProvider(),
		registry: prometheus.NewRegistry(),
		shutdown: func(context.Context) error { return nil },
	}
}
