package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
)

// openLogger makes the logger, whose lines also leave by OTLP where logs do.
func (t *Telemetry) openLogger(ctx context.Context, res *resource.Resource, out exports, level slog.Level, w io.Writer) error {
	t.Logger = newLogger(w, t.Service, level)
	if !out.logs {
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
