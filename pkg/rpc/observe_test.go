package rpc_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

const testWebhook = "gifting.webhook.v1.WebhookService/TestWebhook"

// observed serves handle and returns a connection to it. Client and server report to tel.
func observed(t *testing.T, tel *telemetry.Telemetry, handle func(ctx context.Context) error) *grpc.ClientConn {
	t.Helper()
	conn, _ := start(t, tel, handle)
	return conn
}

func TestACallIsASpanOfEachEndInOneTrace(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	var failure error
	conn := observed(t, tel.Telemetry, func(context.Context) error { return failure })
	ctx, span := tel.StartSpan(t.Context())
	require.NoError(t, call(ctx, conn))

	spans := tel.Spans(testWebhook)
	require.Len(t, spans, 2)
	served, called := spans[0], spans[1]
	require.Equal(t, trace.SpanKindServer, served.SpanKind())
	require.Equal(t, trace.SpanKindClient, called.SpanKind())
	require.Equal(t, called.SpanContext().SpanID(), served.Parent().SpanID())
	require.Equal(t, span.SpanContext().SpanID(), called.Parent().SpanID())
	require.Equal(t, span.SpanContext().TraceID(), served.SpanContext().TraceID())

	t.Run("without what a status says, which may repeat a caller's words", func(t *testing.T) {
		failure = errors.New("marked")
		require.Error(t, call(ctx, conn))
		spans := tel.Spans(testWebhook)
		require.Len(t, spans, 4)
		for _, s := range spans[2:] {
			require.Equal(t, codes.Error, s.Status().Code)
			require.Empty(t, s.Status().Description)
			require.Equal(t, "INTERNAL", telemetrytest.Attributes(s)["rpc.response.status_code"])
		}
	})
	t.Run("and a refusal is no error of the server", func(t *testing.T) {
		failure = problem.New(problem.NotFound, "marked")
		require.Error(t, call(ctx, conn))
		spans := tel.Spans(testWebhook)
		require.Len(t, spans, 6)
		require.Equal(t, codes.Unset, spans[4].Status().Code)
		require.Equal(t, codes.Error, spans[5].Status().Code)
	})
	require.NotContains(t, tel.SpanNames(), "grpc.health.v1.Health/Check")
}

func TestWithoutTracingOnlyTheIDsOfATraceGoAlong(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	tel.Tracing = false
	var seen trace.SpanContext
	conn := observed(t, tel.Telemetry, func(ctx context.Context) error {
		seen = trace.SpanContextFromContext(ctx)
		return nil
	})
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	require.NoError(t, call(trace.ContextWithSpanContext(t.Context(), telemetry.ParseTraceParent(parent)), conn))
	require.Equal(t, parent, telemetry.TraceParent(trace.ContextWithSpanContext(t.Context(), seen)))
	require.Empty(t, tel.SpanNames())
}

func TestCallsAreMeasuredByMethodAndCode(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	var failure error
	conn := observed(t, tel.Telemetry, func(context.Context) error { return failure })
	require.NoError(t, call(t.Context(), conn))
	require.NoError(t, call(t.Context(), conn))
	failure = problem.New(problem.NotFound, "")
	require.Error(t, call(t.Context(), conn))
	want := map[string]float64{
		"rpc.method=" + testWebhook + ",rpc.response.status_code=OK,rpc.system.name=grpc":                             2,
		"error.type=NOT_FOUND,rpc.method=" + testWebhook + ",rpc.response.status_code=NOT_FOUND,rpc.system.name=grpc": 1,
	}
	require.Equal(t, want, tel.Values(t, "rpc.server.call.duration"))
	require.Equal(t, want, tel.Values(t, "rpc.client.call.duration"))
}

func TestACallOfAnUnrecordedTraceMakesNoSpanIfTheSamplerGoesByTheCaller(t *testing.T) {
	t.Parallel()
	const cause = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	for _, inherited := range []bool{true, false} {
		tel := telemetrytest.New()
		tel.Tracers = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()),
			sdktrace.WithSpanProcessor(tel.Processor()))
		tel.SamplingInherited = inherited
		var seen trace.SpanContext
		conn := observed(t, tel.Telemetry, func(ctx context.Context) error {
			seen = trace.SpanContextFromContext(ctx)
			return nil
		})
		parent := telemetry.ParseTraceParent(cause)
		require.NoError(t, call(trace.ContextWithRemoteSpanContext(t.Context(), parent), conn))
		require.Equal(t, parent.TraceID(), seen.TraceID(), "the trace's id is passed on in any case")
		require.Len(t, tel.Spans(testWebhook), map[bool]int{true: 0, false: 2}[inherited])
	}
}
