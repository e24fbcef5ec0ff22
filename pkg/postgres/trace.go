package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// maxText bounds the statements a span shows.
const maxText = 2 << 10

// Trace makes the connections of cfg trace their statements. A span has the statements' text and never the values
// that go with it, nor a server's message, which may repeat them. Only what runs inside a recorded span is traced:
// the polling of a worker has no trace. Where no span leaves the process, nothing is installed.
func Trace(cfg *pgx.ConnConfig, tel *telemetry.Telemetry) {
	if !tel.Tracing {
		return
	}
	cfg.Tracer = &tracer{
		spans: tel.Tracers.Tracer("github.com/partnergifting/platform/pkg/postgres"),
		database: []attribute.KeyValue{
			semconv.DBSystemNamePostgreSQL, semconv.DBNamespace(cfg.Database),
			semconv.ServerAddress(cfg.Host), semconv.ServerPort(int(cfg.Port)),
		},
		name: cfg.Database,
	}
}

// tracer implements pgx.QueryTracer and pgx.BatchTracer.
type tracer struct {
	spans    trace.Tracer
	database []attribute.KeyValue
	name     string
}

// TraceQueryStart implements pgx.QueryTracer.
func (t *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx
	}
	operation := operationOf(data.SQL)
	return t.start(ctx, operation, data.SQL, semconv.DBOperationName(operation))
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t *tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	end(ctx, data.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (t *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx
	}
	var text strings.Builder
	for _, q := range data.Batch.QueuedQueries {
		if text.Len() > 0 {
			text.WriteString("; ")
		}
		if text.WriteString(q.SQL); text.Len() > maxText {
			break
		}
	}
	return t.start(ctx, "BATCH", text.String(),
		semconv.DBOperationName("BATCH"), semconv.DBOperationBatchSize(data.Batch.Len()))
}

// TraceBatchQuery implements pgx.BatchTracer. The first statement that fails ends the batch's span:
// when pgx closes a batch, it does not report an error that a callback has returned.
func (t *tracer) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if data.Err != nil {
		end(ctx, data.Err)
	}
}

// TraceBatchEnd implements pgx.BatchTracer.
func (t *tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	end(ctx, data.Err)
}

// spanKey holds the statement's span: the span of the context is the caller's where the statement has none.
type spanKey struct{}

func (t *tracer) start(ctx context.Context, operation, text string, more ...attribute.KeyValue) context.Context {
	ctx, span := t.spans.Start(ctx, operation+" "+t.name, trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(t.database...)
		span.SetAttributes(more...)
		if len(text) > maxText {
			text = strings.ToValidUTF8(text[:maxText], "") // Cut inside a letter it would spoil all spans sent with it.
		}
		span.SetAttributes(semconv.DBQueryText(text))
	}
	return context.WithValue(ctx, spanKey{}, span)
}

func end(ctx context.Context, err error) {
	span, ok := ctx.Value(spanKey{}).(trace.Span)
	if !ok {
		return
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		span.SetAttributes(failure(err)...)
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// failure names an error by its SQLSTATE, or as one of the connection.
func failure(err error) []attribute.KeyValue {
	if state := State(err); state != "" {
		return []attribute.KeyValue{semconv.DBResponseStatusCode(state), semconv.ErrorTypeKey.String(state)}
	}
	if errors.Is(err, context.Canceled) {
		return []attribute.KeyValue{semconv.ErrorTypeKey.String("canceled")}
	}
	if Unavailable(err) {
		return []attribute.KeyValue{semconv.ErrorTypeKey.String("unavailable")}
	}
	return []attribute.KeyValue{semconv.ErrorTypeOther}
}

// operationOf is the statement's first word.
func operationOf(sql string) string {
	sql = strings.TrimSpace(sql)
	if end := strings.IndexAny(sql, " \n\t("); end > 0 {
		sql = sql[:end]
	}
	const longest = 16
	return strings.ToUpper(sql[:min(len(sql), longest)])
}
