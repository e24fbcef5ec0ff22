package sender

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

// traceAge is how long after a change attempts belong to its trace. A later attempt has a trace of its own
// with a link to the change's: a trace must not last for days.
const traceAge = time.Minute

// withTraceOf makes logs and exemplars belong to the trace of the delivery's change.
func withTraceOf(ctx context.Context, d store.Delivery) context.Context {
	if d.TraceParent == "" {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, telemetry.ParseTraceParent(d.TraceParent))
}

// traced makes a span for an attempt if the trace of its change is recorded. The span does not contain the
// URL, in which partners may keep secrets, and the trace is not sent to the receiver.
func (s *Sender) traced(ctx context.Context, d store.Delivery, attempt func(ctx context.Context) webhookclient.Response) webhookclient.Response {
	cause := trace.SpanContextFromContext(ctx)
	if s.tracer == nil || !cause.IsSampled() {
		return attempt(ctx)
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithLinks(trace.Link{SpanContext: cause})}
	if d.Age >= traceAge {
		options = append(options, trace.WithNewRoot())
	}
	ctx, span := s.tracer.Start(ctx, "POST webhook", options...)
	defer span.End()
	response := attempt(ctx)
	span.SetAttributes(semconv.HTTPRequestMethodPost, semconv.HTTPRequestResendCount(d.Attempts))
	if response.Status > 0 {
		span.SetAttributes(semconv.HTTPResponseStatusCode(response.Status))
	}
	if !response.Delivered() {
		span.SetAttributes(semconv.ErrorTypeKey.String(response.Class))
		span.SetStatus(codes.Error, "")
	}
	return response
}
