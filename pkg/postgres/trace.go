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

// maxText is how many bytes of the text of its statements a span shows at most.
const maxText = 2 << 10

// Trace makes the connections of cfg trace their statements. A span has the text of the statements, but no values and no error
// messages of the server, which may repeat values. Only statements inside a recorded span are traced, so the polling of workers
// is not. Without tracing, nothing is installed.
func Trace(cfg *pgx.ConnConfig, tel *telemetry.Telemetry) {
	if !tel.Tracing {
		return
	}
	cfg.Tracer = &tracer{
		spans: tel.Tracers.Tracer("github.com/partnergifting/platform/pkg/postgres"),
		databaseAttributes: []attribute.KeyValue{
			semconv.DBSystemNamePostgreSQL, semconv.DBNamespace(cfg.Database),
			semconv.ServerAddress(cfg.Host), semconv.ServerPort(int(cfg.Port)),
		},
		databaseName: cfg.Database,
	}
}

// tracer implements pgx.QueryTracer and pgx.BatchTracer.
type tracer struct {
	spans              trace.Tracer
	databaseAttributes []attribute.KeyValue
	databaseName       string
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

// TraceBatchQuery implements pgx.BatchTracer. The first statement that fails ends the batch's span, because TraceBatchEnd does
// not get the error of a callback.
func (t *tracer) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if data.Err != nil {
		end(ctx, data.Err)
	}
}

// TraceBatchEnd implements pgx.BatchTracer.
func (t *tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	end(ctx, data.Err)
}

// spanKey is the context key of the statement's span. The context's current span cannot be used: for a statement that is not
// traced, it is the caller's, which must not be ended.
type spanKey struct{}

func (t *tracer) start(ctx context.Context, operation, text string, more ...attribute.KeyValue) context.Context {
	ctx, span := t.spans.Start(ctx, operation+" "+t.databaseName, trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(t.databaseAttributes...)
		span.SetAttributes(more...)
		if len(text) > maxText {
			// Invalid UTF-8 would make the exporter drop all spans that it sends together with this one.
			text = strings.ToValidUTF8(text[:maxText], "")
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
		span.SetAttributes(errorAttributes(err)...)
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// errorAttributes classifies an error: by its SQLSTATE, as canceled, as an unavailable server, or as another error.
func errorAttributes(err error) []attribute.KeyValue {
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
