// Package telemetry makes the logger, tracer, meters and metrics port of a process. Nothing in it is global, so that several
// services can live in one process. Only a process of one service calls RedirectStandardLogger.
//
// Spans, metrics and logs are exported by OTLP over gRPC if the standard variables of OpenTelemetry name an endpoint. /metrics and
// the log on stderr are there in any case. If spans are not exported, Tracing is false and none are made. Trace ids remain: they
// are the request ids of the API and are in the logs of all services.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof" // It adds handlers to http.DefaultServeMux too, which no program serves.
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/netguard"
)

// Config of a process's telemetry.
type Config struct {
	LogLevel    slog.Level `env:"LOG_LEVEL" envDefault:"INFO" doc:"DEBUG, INFO, WARN or ERROR."`
	MetricsAddr string     `env:"METRICS_ADDR" check:"listen" doc:"host:port that serves /metrics, /livez and /readyz; empty: none."`
	Profiling   bool       `env:"PROFILING" doc:"Serves profiles of Go at /debug/pprof/ of METRICS_ADDR. On a loopback address they are always served."`
}

// Telemetry of one service.
type Telemetry struct {
	// Service is the name in logs, spans and metrics.
	Service string
	Logger  *slog.Logger
	Tracers trace.TracerProvider
	Meters  metric.MeterProvider
	// Tracing reports whether spans are exported. If not, none are made.
	Tracing bool
	// SamplingInherited reports whether the sampler follows the caller's decision. If it does, a call whose trace is not recorded
	// needs no span.
	SamplingInherited bool

	registry    *prometheus.Registry
	metricsAddr string
	// servesProfiles means that the metrics port serves profiles.
	servesProfiles bool
	shutdown       []func(ctx context.Context) error
}

// New makes the telemetry of the named service; logs go to w as JSON lines.
func New(ctx context.Context, service string, cfg Config, w io.Writer) (*Telemetry, error) {
	exported, err := readExports()
	if err != nil {
		return nil, err
	}
	res, err := newResource(ctx, service)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{
		Service: service, Tracing: exported.traces, registry: newRegistry(service), metricsAddr: cfg.MetricsAddr,
		servesProfiles: cfg.servesProfiles(),
	}
	for _, step := range []func() error{
		func() error { return t.openLogger(ctx, res, exported, cfg.LogLevel, w) },
		func() error { return t.openTracers(ctx, res, exported) },
		func() error { return t.openMeters(ctx, res, exported) },
	} {
		if err := step(); err != nil {
			t.Close(ctx)
			return nil, err
		}
	}
	return t, nil
}

// Discard returns telemetry that records nothing, for tests.
func Discard() *Telemetry {
	return &Telemetry{
		Service:  "discard",
		Logger:   slog.New(slog.DiscardHandler),
		Tracers:  sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())),
		Meters:   sdkmetric.NewMeterProvider(),
		registry: prometheus.NewRegistry(),
	}
}

// Handle implements otel.ErrorHandler: errors of exporting are only logged.
func (t *Telemetry) Handle(err error) { t.Logger.Warn("telemetry", "error", err) }

// Close exports what is still pending, even if ctx has ended. It is called after all parts of the process have ended.
func (t *Telemetry) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	var errs []error
	for _, shutdown := range t.shutdown {
		errs = append(errs, shutdown(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		t.Logger.WarnContext(ctx, "the last telemetry data was not exported", "error", err)
	}
}

// serviceLabel is on every series, so that rules do not depend on how the services are scraped.
const serviceLabel = "service_name"

// newResource describes the process. The service's name wins over OTEL_SERVICE_NAME, which could
// only be the same for all services of one process.
func newResource(ctx context.Context, service string) (*resource.Resource, error) {
	res, err := resource.New(ctx, resource.WithHost(), resource.WithFromEnv(), resource.WithAttributes(
		semconv.ServiceName(service), semconv.ServiceVersion(Version())))
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return res, nil
}

func newRegistry(service string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	prometheus.WrapRegistererWith(prometheus.Labels{serviceLabel: service}, registry).MustRegister(
		collectors.NewGoCollector(), collectors.NewBuildInfoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "gifting_platform_programs", Help: "Number of programs that the platform of this version has."},
			func() float64 { return float64(len(identity.Programs())) }))
	return registry
}

const (
	headerTimeout   = 5 * time.Second
	readTimeout     = 10 * time.Second
	writeTimeout    = 30 * time.Second // A scrape times out earlier.
	idleTimeout     = 2 * time.Minute  // Longer than the usual time between two scrapes.
	shutdownTimeout = 5 * time.Second
)

// Serve answers /metrics, /livez and /readyz, and /debug/pprof/ if servesProfiles is set, on the metrics port until ctx ends. ready
// returns an error while the service cannot work; it must return quickly.
func (t *Telemetry) Serve(ctx context.Context, ready func(ctx context.Context) error) error {
	if t.metricsAddr == "" {
		<-ctx.Done()
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", t.metricsAddr)
	if err != nil {
		return fmt.Errorf("metrics port: %w", err)
	}
	return serve(ctx, listener, t.handler(ready))
}

func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics port: %w", err)
	}
	return nil
}

func (t *Telemetry) handler(ready func(ctx context.Context) error) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := ready(r.Context()); err != nil {
			t.Logger.WarnContext(r.Context(), "not ready", "error", err)
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintln(w, err) // The port is for operators.
		}
	})
	if t.servesProfiles {
		serveProfiles(mux)
	}
	return mux
}

// servesProfiles reports whether the metrics port serves profiles. They show what the program does and slow it down, so by default
// only this machine gets them.
func (c Config) servesProfiles() bool {
	host, _, err := net.SplitHostPort(c.MetricsAddr)
	return c.Profiling || err == nil && netguard.IsLoopback(host)
}

func serveProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // Also serves heap, allocs, goroutine and so on.
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

// version is set only by the linker:
//
//	go build -ldflags "-X github.com/partnergifting/platform/pkg/telemetry.version=v1.2.3"
var version string

// unknownVersion is the version of a program to which neither the linker nor a repository gave one.
const unknownVersion = "(devel)"

// Version returns the version that the linker set, or else the one that Go recorded from the repository in which the program was
// built.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return unknownVersion
}
