package bench_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// chartRatio is telemetry.sampleRatio of the chart.
const chartRatio = "0.1"

// BenchmarkTracing compares three platforms of the same process, which place orders in turn: without tracing, with the sampling
// of the chart, and with all traces. What receives the spans is in the process too, but does not decode them. tracing-cost is the
// additional processor time of a request, as a share of that without tracing; 0.05 is the most that the chart's sampling may cost.
func BenchmarkTracing(b *testing.B) {
	type traced struct {
		*ordersFixture
		*side

		by    []*client
		meter *fixture.Meter
	}
	newTraced := func() traced {
		f := newOrdersFixture(b)
		return traced{ordersFixture: f, side: &side{clients: clients}, by: f.clients(b, clients), meter: fixture.NewMeter(b, f.Config.Name)}
	}
	off := newTraced()
	discardSpans(b)
	b.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	b.Setenv("OTEL_TRACES_SAMPLER_ARG", chartRatio)
	sampled := newTraced()
	b.Setenv("OTEL_TRACES_SAMPLER_ARG", "1")
	all := newTraced()
	fixture.Once(b, func() {
		for range iterations() {
			for _, p := range []traced{off, sampled, all} {
				p.measure(b, p.meter, func(i int) error { return p.send(p.by[i]) }, func() { p.drain(b) })
			}
			b.Logf("without %v, with the chart's sampling %v, with all %v", off.side, sampled.side, all.side)
		}
	})
	b.ReportMetric(fixture.MedianRatio(sampled.used, off.used)-1, "tracing-cost")
	b.ReportMetric(fixture.MedianRatio(all.used, off.used)-1, "tracing-cost-of-all")
	b.ReportMetric(fixture.MedianRatio(sampled.rates, off.rates), "sampled/off")
	b.ReportMetric(fixture.MedianRatio(all.rates, off.rates), "all/off")
}

// discardSpans receives the spans of the platforms that the benchmark starts later.
func discardSpans(b *testing.B) {
	b.Helper()
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&emptypb.Empty{}); err != nil { // All fields are unknown, so they are not decoded.
			return err
		}
		return stream.SendMsg(&collector.ExportTraceServiceResponse{})
	}))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	b.Cleanup(func() {
		server.Stop()
		require.NoError(b, <-served)
	})
	b.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://"+listener.Addr().String())
}
