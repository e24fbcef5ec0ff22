package bench_test

import (
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// chartRatio is telemetry.sampleRatio of the chart.
const chartRatio = "0.1"

// exportDelay is how long a span waits at most until it is exported. With the default of 5 s, spans of one platform would be
// exported while another one works. The shorter delay makes batches smaller, so that exporting costs more than it does elsewhere.
const exportDelay = 250 * time.Millisecond

// BenchmarkTracing compares three platforms of the same process: without tracing, with the sampling of the chart, and with all
// traces. A change is an order placed, another one read, and a message posted. What receives the spans is in the process too, but
// does not decode them.
func BenchmarkTracing(b *testing.B) {
	newVariant := func(name string) *variant {
		f := newOrdersFixture(b)
		orders, all := f.placeMany(b), f.clients(b, clients)
		f.drain(b)
		return &variant{
			name: name, meter: f.NewMeter(b),
			change: func(client int) error { return f.change(all[client], orders) },
			after: func() {
				f.drain(b)
				<-time.After(exportDelay + exportDelay/5)
			},
		}
	}
	off := newVariant("off")
	discardSpans(b)
	b.Setenv("OTEL_BSP_SCHEDULE_DELAY", strconv.FormatInt(exportDelay.Milliseconds(), 10))
	b.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	b.Setenv("OTEL_TRACES_SAMPLER_ARG", chartRatio)
	sampled := newVariant("sampled")
	b.Setenv("OTEL_TRACES_SAMPLER_ARG", "1")
	compareCosts(b, off, sampled, newVariant("all"))
}

// change places an order, posts a message to another one and reads a third.
func (f *ordersFixture) change(c *fixture.Client, orders *cycle) error {
	if err := f.send(c); err != nil {
		return err
	}
	name := "message-" + strconv.FormatInt(f.placed.Add(1), 10)
	message := "/orders/" + orders.next() + "/messages"
	if _, err := c.Post(message, name, `{"body": "When will it come?"}`, http.StatusCreated); err != nil {
		return err
	}
	_, err := c.Get("/orders/" + orders.next())
	return err
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
