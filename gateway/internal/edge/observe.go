package edge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Observer tells of requests: a span and a duration of each, and of those with an Idempotency-Key
// what the key was found to be. It has nothing that a caller wrote: the route's template instead of
// the path, no query, address or user agent.
type Observer struct {
	tracer   trace.Tracer
	duration metric.Float64Histogram
	keys     metric.Int64Counter
	scheme   attribute.KeyValue
	// outcomes has the label of each outcome and series those of each method, route and status: to
	// make them anew costs more than to measure.
	outcomes map[string]metric.MeasurementOption
	series   sync.Map
}

type series struct {
	method, route string
	status        int
}

// What the owning service found an Idempotency-Key to be.
const (
	keyNew      = "new"
	keyReplay   = "replay"
	keyMismatch = "mismatch"
	keyConflict = "conflict"
)

// NewObserver makes an observer of requests that come by HTTPS or not.
func NewObserver(ctx context.Context, tel *telemetry.Telemetry, https bool) (*Observer, error) {
	meter := tel.Meters.Meter("github.com/partnergifting/platform/gateway")
	o := &Observer{
		tracer: tel.Tracers.Tracer("github.com/partnergifting/platform/gateway"), scheme: semconv.URLScheme("http"),
		outcomes: map[string]metric.MeasurementOption{},
	}
	if https {
		o.scheme = semconv.URLScheme("https")
	}
	var errs [2]error
	o.duration, errs[0] = meter.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of requests."), telemetry.Durations())
	o.keys, errs[1] = meter.Int64Counter("gifting.gateway.idempotency.requests",
		metric.WithDescription("Requests with an Idempotency-Key by what the key was found to be."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("request metrics: %w", err)
	}
	for _, outcome := range []string{keyNew, keyReplay, keyMismatch, keyConflict} {
		o.outcomes[outcome] = metric.WithAttributeSet(attribute.NewSet(attribute.String("outcome", outcome)))
		o.keys.Add(ctx, 0, o.outcomes[outcome])
	}
	return o, nil
}

// begin starts the trace of a request. It is always a new one, because its id is the request id and
// whether it is recorded is for this platform to say; it links to the one the caller may have named.
func (o *Observer) begin(r *http.Request) (context.Context, trace.Span) {
	ctx, span := o.tracer.Start(r.Context(), "HTTP", trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer))
	if span.IsRecording() {
		if named := telemetry.ParseTraceParent(r.Header.Get("Traceparent")); named.IsValid() {
			span.AddLink(trace.Link{SpanContext: named})
		}
	}
	return ctx, span
}

func (o *Observer) end(ctx context.Context, span trace.Span, method, route string, status int, c *call, took time.Duration) {
	key := series{knownMethod(method), route, status}
	labels := o.labels(key)
	o.duration.Record(ctx, took.Seconds(), metric.WithAttributeSet(labels))
	if span.IsRecording() {
		span.SetName(key.method + " " + key.route)
		span.SetAttributes(labels.ToSlice()...)
		if c != nil && c.principal.TenantID != "" {
			span.SetAttributes(attribute.String("gifting.tenant.id", c.principal.TenantID),
				attribute.Int("gifting.key.id", int(c.principal.KeyID)))
		}
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
}

func (o *Observer) labels(key series) attribute.Set {
	if known, ok := o.series.Load(key); ok {
		return known.(attribute.Set)
	}
	labels := []attribute.KeyValue{
		o.scheme, semconv.HTTPRequestMethodKey.String(key.method), semconv.HTTPRoute(key.route),
		semconv.HTTPResponseStatusCode(key.status),
	}
	if key.status >= http.StatusInternalServerError {
		labels = append(labels, semconv.ErrorTypeKey.String(strconv.Itoa(key.status)))
	}
	set := attribute.NewSet(labels...)
	o.series.Store(key, set)
	return set
}

// countKey tells what the owning service found the call's Idempotency-Key to be.
func (o *Observer) countKey(ctx context.Context, c *call, answer http.Header) {
	if c.request.IdempotencyKey == "" {
		return
	}
	outcome := keyNew
	switch {
	case answer.Get(replayedHeader) != "":
		outcome = keyReplay
	case c.fault == problem.IdempotencyKeyReused:
		outcome = keyMismatch
	case c.fault == problem.IdempotencyInProgress:
		outcome = keyConflict
	}
	o.keys.Add(ctx, 1, o.outcomes[outcome])
}
