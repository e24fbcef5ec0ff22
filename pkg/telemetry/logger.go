package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// openLogger makes the logger. Its lines are also exported by OTLP if logs are.
func (t *Telemetry) openLogger(ctx context.Context, res *resource.Resource, exported exports, level slog.Level, w io.Writer) error {
	t.Logger = newLogger(w, t.Service, level)
	if !exported.logs {
		return nil
	}
	exporter, err := otlploggrpc.New(ctx)
	if err != nil {
		return fmt.Errorf("log exporter: %w", err)
	}
	provider := sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
	t.shutdown = append(t.shutdown, provider.Shutdown)
	bridge := otelslog.NewHandler(t.Service, otelslog.WithLoggerProvider(provider))
	t.Logger = slog.New(slog.NewMultiHandler(t.Logger.Handler(), leveled{bridge, level}))
	return nil
}

func newLogger(w io.Writer, service string, level slog.Level) *slog.Logger {
	json := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	return slog.New(traced{json}).With("service", service)
}

// RedirectStandardLogger adds what the standard logger is given to this log. Package net/http writes there, for instance what a
// server sends beyond its response. It quotes what comes from others, and that may be personal: a line ends before its first quote.
func (t *Telemetry) RedirectStandardLogger() {
	log.SetFlags(0)
	log.SetOutput(standardLog{t.Logger})
}

// standardLog is the output of the standard logger, which writes each line by itself.
type standardLog struct{ to *slog.Logger }

func (s standardLog) Write(line []byte) (int, error) {
	text, _, _ := strings.Cut(string(line), `"`)
	s.to.Warn("line of the standard logger", "text", strings.TrimSpace(text))
	return len(line), nil
}

// traced adds the ids of the context's span to every line.
type traced struct{ slog.Handler }

func (t traced) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return t.Handler.Handle(ctx, r)
}

func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }

func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }

// leveled drops what is below the level.
type leveled struct {
	slog.Handler
	level slog.Level
}

func (l leveled) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }

func (l leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return leveled{l.Handler.WithAttrs(attrs), l.level}
}

func (l leveled) WithGroup(name string) slog.Handler {
	return leveled{l.Handler.WithGroup(name), l.level}
}

// PoolState is the state of a connection pool.
type PoolState struct {
	Used, Idle, Max int64
	// Waits counts the acquisitions that found no free connection; Waited is how long they took.
	Waits  int64
	Waited time.Duration
}

// Pool measures a pool of connections to a database of the kind system. state must return immediately.
func Pool(meters metric.MeterProvider, system, name string, state func(ctx context.Context) PoolState) error {
	meter := meters.Meter("github.com/partnergifting/platform/pkg/telemetry")
	count, err1 := meter.Int64ObservableUpDownCounter("db.client.connection.count", metric.WithUnit("{connection}"),
		metric.WithDescription("Connections by state."))
	most, err2 := meter.Int64ObservableUpDownCounter("db.client.connection.max", metric.WithUnit("{connection}"),
		metric.WithDescription("Maximum number of connections."))
	waits, err3 := meter.Int64ObservableCounter("gifting.db.pool.waits",
		metric.WithDescription("Acquisitions that found no free connection."))
	waited, err4 := meter.Float64ObservableCounter("gifting.db.pool.wait_time", metric.WithUnit("s"),
		metric.WithDescription("Time spent waiting for a free connection."))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	poolAttributes := []attribute.KeyValue{semconv.DBSystemNameKey.String(system), semconv.DBClientConnectionPoolName(name)}
	pool := metric.WithAttributeSet(attribute.NewSet(poolAttributes...))
	used := metric.WithAttributeSet(attribute.NewSet(append(poolAttributes, semconv.DBClientConnectionStateUsed)...))
	idle := metric.WithAttributeSet(attribute.NewSet(append(poolAttributes, semconv.DBClientConnectionStateIdle)...))
	_, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		s := state(ctx)
		o.ObserveInt64(count, s.Used, used)
		o.ObserveInt64(count, s.Idle, idle)
		o.ObserveInt64(most, s.Max, pool)
		o.ObserveInt64(waits, s.Waits, pool)
		o.ObserveFloat64(waited, s.Waited.Seconds(), pool)
		return nil
	}, count, most, waits, waited)
	return err
}
