package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traceParent is the header of the W3C trace context. Its companion tracestate is not used: nobody
// inside the platform adds to it, and it may hold any text.
const traceParent = "traceparent"

// TraceParent is the span of ctx in the form in which it travels, or the empty string.
func TraceParent(ctx context.Context) string {
	var c carrier
	propagation.TraceContext{}.Inject(ctx, &c)
	return string(c)
}

// ParseTraceParent reads what TraceParent made. Of any other text the context is not valid.
func ParseTraceParent(text string) trace.SpanContext {
	c := carrier(text)
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), &c))
}

// carrier is one traceparent.
type carrier string

// Get implements propagation.TextMapCarrier.
func (c *carrier) Get(key string) string {
	if key == traceParent {
		return string(*c)
	}
	return ""
}

// Set implements propagation.TextMapCarrier.
func (c *carrier) Set(key, value string) {
	if key == traceParent {
		*c = carrier(value)
	}
}

// Keys implements propagation.TextMapCarrier.
func (c *carrier) Keys() []string { return []string{traceParent} }
