// Package telemetrytest records telemetry for tests to read.
package telemetrytest

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Record is telemetry that keeps what is reported to it.
type Record struct {
	*telemetry.Telemetry

	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
}

// New makes telemetry that records every trace and logs nothing.
func New() *Record {
	r := &Record{Telemetry: telemetry.Discard(), spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	r.Tracing = true
	r.Tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	r.Meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	return r
}

// Processor records spans, for a provider with another sampler.
func (r *Record) Processor() sdktrace.SpanProcessor { return r.spans }

// StartSpan starts a recorded span and returns a context with it.
func (r *Record) StartSpan(ctx context.Context) (context.Context, trace.Span) {
	return r.Tracers.Tracer("test").Start(ctx, "test") //nolint:spancheck // The caller may end it.
}

// Spans returns the spans of the name that have ended, in that order.
func (r *Record) Spans(name string) []sdktrace.ReadOnlySpan {
	var found []sdktrace.ReadOnlySpan
	for _, s := range r.spans.Ended() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	return found
}

// SpanNames returns the names of all spans that have ended.
func (r *Record) SpanNames() []string {
	var names []string
	for _, s := range r.spans.Ended() {
		names = append(names, s.Name())
	}
	return names
}

// Values returns the metric's value for each set of labels, in the labels' canonical form such as code=OK,method=x; for a
// histogram it is the count. The map is empty for an unknown metric.
func (r *Record) Values(t testing.TB, metric string) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(context.Background(), &all))
	values := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name == metric {
				read(m.Data, values)
			}
		}
	}
	return values
}

func read(data metricdata.Aggregation, into map[string]float64) {
	switch d := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			into[labels(p.Attributes)] = float64(p.Count)
		}
	case metricdata.Sum[int64]:
		points(d.DataPoints, into)
	case metricdata.Sum[float64]:
		points(d.DataPoints, into)
	case metricdata.Gauge[int64]:
		points(d.DataPoints, into)
	case metricdata.Gauge[float64]:
		points(d.DataPoints, into)
	}
}

func points[N int64 | float64](all []metricdata.DataPoint[N], into map[string]float64) {
	for _, p := range all {
		into[labels(p.Attributes)] = float64(p.Value)
	}
}

func labels(set attribute.Set) string { return set.Encoded(attribute.DefaultEncoder()) }

// Attributes are those of a span by their names.
func Attributes(s sdktrace.ReadOnlySpan) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes() {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

// Log is a log that several goroutines write, or that is read meanwhile.
type Log struct {
	lock sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(p)
}

// String returns what was written.
func (l *Log) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}
