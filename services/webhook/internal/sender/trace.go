package sender

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/post"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// promptly is until when an attempt belongs to the trace of its change. A later one, of a delivery
// that is tried again, is a trace of its own that links there: a trace must not go on for days.
const promptly = time.Minute

// ofChange puts what is done for a delivery, its logs and exemplars, to the trace of its change.
func ofChange(ctx context.Context, d store.Delivery) context.Context {
	if d.TraceParent == "" {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, telemetry.ParseTraceParent(d.TraceParent))
}

// traced makes a span of an attempt, where its change's trace is recorded. It does not tell the URL,
// in which partners may keep secrets; the receiver is not told the trace.
func (s *Sender) traced(ctx context.Context, d store.Delivery, attempt func(ctx context.Context) post.Answer) post.Answer {
	cause := trace.SpanContextFromContext(ctx)
	if s.spans == nil || !cause.IsSampled() {
		return attempt(ctx)
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithLinks(trace.Link{SpanContext: cause})}
	if d.Age >= promptly {
		options = append(options, trace.WithNewRoot())
	}
	ctx, span := s.spans.Start(ctx, "POST webhook", options...)
	defer span.End()
	answer := attempt(ctx)
	span.SetAttributes(semconv.HTTPRequestMethodPost, semconv.HTTPRequestResendCount(d.Attempts))
	if answer.Status > 0 {
		span.SetAttributes(semconv.HTTPResponseStatusCode(answer.Status))
	}
	if !answer.Delivered() {
		span.SetAttributes(semconv.ErrorTypeKey.String(answer.Class))
		span.SetStatus(codes.Error, "")
	}
	return answer
}
