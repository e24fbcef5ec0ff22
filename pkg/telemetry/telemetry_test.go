package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestWithoutAnEndpointNoSpanIsExportedButTraceIDsAreMade(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	tel, err := telemetry.New(t.Context(), "example", telemetry.Config{}, &log)
	require.NoError(t, err)
	require.False(t, tel.Tracing)
	ctx, span := tel.Tracers.Tracer("test").Start(t.Context(), "call")
	defer span.End()
	require.False(t, span.IsRecording())
	require.True(t, span.SpanContext().HasTraceID())
	tel.Logger.InfoContext(ctx, "hello")
	require.Contains(t, log.String(), `"trace_id":"`+span.SpanContext().TraceID().String()+`"`)
	require.Contains(t, log.String(), `"span_id":"`+span.SpanContext().SpanID().String()+`"`)
	tel.Close(t.Context())
}

func TestTheStandardVariables(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, c := range map[string]struct {
		variables map[string]string
		traces    bool
		err       string
	}{
		"an endpoint switches tracing on": {map[string]string{endpoint: "http://127.0.0.1:1"}, true, ""},
		"that of the traces does":         {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}, true, ""},
		"that of the metrics does not": {
			map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:1"}, false, "",
		},
		"none switches it off": {
			map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}, false, "",
		},
		"so does the switch for all": {
			map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, false, "",
		},
		"another exporter is refused": {
			map[string]string{"OTEL_METRICS_EXPORTER": "console"}, false, `OTEL_METRICS_EXPORTER: "console"`,
		},
		"another protocol is refused": {
			map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, false, "only grpc",
		},
		"so is that of one signal": {
			map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/protobuf"}, false, "OTLP_LOGS_PROTOCOL",
		},
		"a misspelt sampler is refused": {
			map[string]string{"OTEL_TRACES_SAMPLER": "always"}, false, `OTEL_TRACES_SAMPLER: "always"`,
		},
		"a share of traces is taken": {
			map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.05"}, false, "",
		},
		"what is no share is refused": {map[string]string{
			"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "5%",
		}, false, `OTEL_TRACES_SAMPLER_ARG: "5%"`},
		"an argument that nobody reads stays": {
			map[string]string{"OTEL_TRACES_SAMPLER": "always_on", "OTEL_TRACES_SAMPLER_ARG": "x"}, false, "",
		},
		"attributes that are none are refused": {
			map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "region"}, false, "OTEL_RESOURCE_ATTRIBUTES",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range c.variables {
				t.Setenv(variable, value)
			}
			t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1") // There is no server.
			tel, err := telemetry.New(t.Context(), "example", telemetry.Config{}, io.Discard)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.traces, tel.Tracing)
			tel.Close(t.Context())
		})
	}
}

func TestTheSamplerSaysWhichTracesAreRecorded(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1") // There is no server.
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
	tel, err := telemetry.New(t.Context(), "example", telemetry.Config{}, io.Discard)
	require.NoError(t, err)
	t.Cleanup(func() { tel.Close(t.Context()) })
	_, dropped := tel.Tracers.Tracer("test").Start(t.Context(), "call")
	defer dropped.End()
	require.False(t, dropped.IsRecording())

	recorded := telemetry.ParseTraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	_, span := tel.Tracers.Tracer("test").Start(trace.ContextWithRemoteSpanContext(t.Context(), recorded), "call")
	defer span.End()
	require.True(t, span.IsRecording(), "the caller has decided")
}

func TestATraceParentIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ctx := trace.ContextWithSpanContext(t.Context(), telemetry.ParseTraceParent(parent))
	require.Equal(t, parent, telemetry.TraceParent(ctx))
	require.Empty(t, telemetry.TraceParent(t.Context()))
	for _, none := range []string{"", "x", "00-" + "0000000000000000000000000000000000-00f067aa0ba902b7-01"} {
		require.False(t, telemetry.ParseTraceParent(none).IsValid(), none)
	}
}

func TestASampleIsReadOnceForManyAndLeftOutWhenItCannotBe(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var reads int
	var failure error
	sample := telemetry.NewSample(func(context.Context) (int, error) {
		reads++
		return reads, failure
	}, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	get := func() (int, bool) { return sample.Get(t.Context()) }

	for range 3 {
		value, ok := get()
		require.True(t, ok)
		require.Equal(t, 1, value)
	}
	now, failure = now.Add(10*time.Second), errors.New("down")
	_, ok := get()
	require.False(t, ok)
	failure = nil
	_, ok = get()
	require.False(t, ok, "a database that is down is not asked at every scrape")
	now = now.Add(10 * time.Second)
	value, ok := get()
	require.True(t, ok)
	require.Equal(t, 3, value)
}

func TestASlowSampleIsReadLessOften(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var reads int
	sample := telemetry.NewSample(func(context.Context) (int, error) {
		reads++
		now = now.Add(time.Second)
		return reads, nil
	}, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	for _, step := range []struct {
		after time.Duration
		reads int
	}{{0, 1}, {20*time.Second - 1, 1}, {1, 2}} {
		now = now.Add(step.after)
		_, ok := sample.Get(t.Context())
		require.True(t, ok)
		require.Equal(t, step.reads, reads)
	}
}
