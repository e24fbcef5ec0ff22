package kafka

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	scope = "github.com/partnergifting/platform/pkg/kafka"
	// traceHeader carries the W3C trace context of what a message came from.
	traceHeader = "traceparent"
)

// TraceParent is the trace context a message carries, or the empty string.
func TraceParent(m Message) string {
	for _, h := range m.Headers {
		if h.Key == traceHeader {
			return string(h.Value)
		}
	}
	return ""
}

// WithTraceParent returns the message with the trace context; if that is empty, without one.
func WithTraceParent(m Message, parent string) Message {
	headers := slices.DeleteFunc(slices.Clone(m.Headers), func(h Header) bool { return h.Key == traceHeader })
	if parent != "" {
		headers = append(headers, Header{Key: traceHeader, Value: []byte(parent)})
	}
	m.Headers = headers
	return m
}

// spans makes a span of every message that belongs to a recorded trace, inside that trace. Messages travel in batches: what is done
// for a whole batch is traced once, inside the span of its first such message, and the spans of the others link to it.
type spans struct {
	tracer    trace.Tracer
	kind      trace.SpanKind
	operation string
	topic     string
	labels    []attribute.KeyValue
}

// newSpans returns nil if spans are not exported.
func newSpans(tel *telemetry.Telemetry, kind trace.SpanKind, operation, topic string, labels []attribute.KeyValue) *spans {
	if !tel.Tracing {
		return nil
	}
	return &spans{tracer: tel.Tracers.Tracer(scope), kind: kind, operation: operation, topic: topic, labels: labels}
}

// batchSpans are the spans of a batch.
type batchSpans []trace.Span

// begin returns the context for the work, and the messages with the contexts of their spans.
func (s *spans) begin(ctx context.Context, msgs []Message) (context.Context, []Message, batchSpans) {
	if s == nil {
		return ctx, msgs, nil
	}
	var all batchSpans
	out := msgs
	for i, m := range msgs {
		parent := telemetry.ParseTraceParent(TraceParent(m))
		if !parent.IsSampled() {
			continue
		}
		inside, span := s.start(ctx, parent, m)
		if len(all) == 0 {
			out = slices.Clone(msgs)
			span.SetAttributes(semconv.MessagingBatchMessageCount(len(msgs)))
		} else {
			span.AddLink(trace.Link{SpanContext: all[0].SpanContext()})
		}
		all = append(all, span)
		out[i] = WithTraceParent(m, telemetry.TraceParent(inside))
	}
	if len(all) == 0 {
		return ctx, msgs, nil
	}
	return trace.ContextWithSpan(ctx, all[0]), out, all
}

// start makes the span of a message. It also links to its parent, as asynchronous work does, because the parent has mostly
// ended.
func (s *spans) start(ctx context.Context, parent trace.SpanContext, m Message) (context.Context, trace.Span) {
	ctx, span := s.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, parent), s.operation+" "+s.topic,
		trace.WithSpanKind(s.kind), trace.WithLinks(trace.Link{SpanContext: parent}), trace.WithAttributes(s.labels...))
	if s.kind == trace.SpanKindConsumer {
		span.SetAttributes(semconv.MessagingKafkaOffset(int(m.Offset)), partitionLabel(m.Partition))
	}
	return ctx, span
}

func (b batchSpans) end(err error) {
	for _, span := range b {
		if err != nil {
			span.SetAttributes(semconv.ErrorTypeOther)
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
