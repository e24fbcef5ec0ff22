package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Observer records each request: a span, its duration and a line in the access log; for a request with an Idempotency-Key also
// whether the key was new. It records no text of the caller, which may be personal data: the route's template instead of the
// path, and no query, address or user agent.
type Observer struct {
	log      *slog.Logger
	tracer   trace.Tracer
	duration metric.Float64Histogram
	keys     metric.Int64Counter
	scheme   attribute.KeyValue
}

// The outcomes of looking up an Idempotency-Key.
const (
	keyNew      = "new"
	keyReplay   = "replay"
	keyMismatch = "mismatch"
	keyConflict = "conflict"
)

// NewObserver makes an Observer. https means that callers reach the API by HTTPS.
func NewObserver(ctx context.Context, tel *telemetry.Telemetry, https bool) (*Observer, error) {
	meter := tel.Meters.Meter("github.com/partnergifting/platform/gateway")
	o := &Observer{
		log: tel.Logger, tracer: tel.Tracers.Tracer("github.com/partnergifting/platform/gateway"), scheme: semconv.URLScheme("http"),
	}
	if https {
		o.scheme = semconv.URLScheme("https")
	}
	var errs [2]error
	o.duration, errs[0] = meter.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of requests."), telemetry.Durations())
	o.keys, errs[1] = meter.Int64Counter("gifting.gateway.idempotency.requests",
		metric.WithDescription("Requests with an Idempotency-Key, by the outcome of looking it up."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("request metrics: %w", err)
	}
	for _, outcome := range []string{keyNew, keyReplay, keyMismatch, keyConflict} {
		o.keys.Add(ctx, 0, metric.WithAttributes(attribute.String("outcome", outcome)))
	}
	return o, nil
}

// startSpan starts the trace of a request. It is always a new trace, because its id is the request id and the platform decides
// whether to sample it. If the caller sent a trace, it is linked.
func (o *Observer) startSpan(r *http.Request) (context.Context, trace.Span) {
	ctx, span := o.tracer.Start(r.Context(), "HTTP", trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer))
	if span.IsRecording() {
		if named := telemetry.ParseTraceParent(r.Header.Get("Traceparent")); named.IsValid() {
			span.AddLink(trace.Link{SpanContext: named})
		}
	}
	return ctx, span
}

func (o *Observer) observe(c *call) {
	ctx, span, took := c.r.Context(), c.span, time.Since(c.began)
	method := knownMethod(c.r.Method)
	labels := o.labels(method, c)
	if !c.forced.applied { // Alerts count these measurements, and a forced failure is not one of the platform.
		o.duration.Record(ctx, (took - c.waiting.held).Seconds(), metric.WithAttributes(labels...))
	}
	if span.IsRecording() {
		span.SetName(method + " " + c.route)
		span.SetAttributes(labels...)
		if c.principal.TenantID != "" {
			span.SetAttributes(attribute.String("gifting.tenant.id", c.principal.TenantID),
				attribute.Int("gifting.key.id", int(c.principal.KeyID)))
		}
		if c.status >= http.StatusInternalServerError && !c.forced.applied {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
	o.logAccess(ctx, method, c, took)
}

// logAccess writes one line per request. The trace id of the line is the Request-Id of the response.
func (o *Observer) logAccess(ctx context.Context, method string, c *call, took time.Duration) {
	const maxAttrs = 8
	attrs := append(make([]slog.Attr, 0, maxAttrs), slog.String("method", method), slog.String("route", c.route),
		slog.Int("status", c.status), slog.Int("bytes", c.bytes), slog.Duration("took", took))
	if c.waiting.held > 0 {
		attrs = append(attrs, slog.Duration("held", c.waiting.held))
	}
	if c.principal.TenantID != "" {
		attrs = append(attrs, slog.String("tenant_id", c.principal.TenantID), slog.Int("key_id", int(c.principal.KeyID)))
	}
	if c.forced.applied {
		attrs = append(attrs, slog.String("forced", c.forced.fault))
	}
	o.log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// knownMethod bounds the values of a label, because a caller may send any word as a method.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}

func (o *Observer) labels(method string, c *call) []attribute.KeyValue {
	labels := []attribute.KeyValue{
		o.scheme, semconv.HTTPRequestMethodKey.String(method), semconv.HTTPRoute(c.route), semconv.HTTPResponseStatusCode(c.status),
	}
	if c.status >= http.StatusInternalServerError {
		labels = append(labels, semconv.ErrorTypeKey.String(strconv.Itoa(c.status)))
	}
	return labels
}

// countKey counts a request by the outcome of looking up its Idempotency-Key.
func (o *Observer) countKey(ctx context.Context, c *call) {
	if c.request.IdempotencyKey == "" {
		return
	}
	outcome := keyNew
	switch {
	case c.Header().Get(replayedHeader) != "":
		outcome = keyReplay
	case problem.Is(c.err, problem.IdempotencyKeyReused):
		outcome = keyMismatch
	case problem.Is(c.err, problem.IdempotencyInProgress):
		outcome = keyConflict
	}
	o.keys.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}
