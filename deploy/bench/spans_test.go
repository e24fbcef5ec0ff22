package bench_test

import (
	"context"
	"encoding/hex"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// spans keeps the spans that a platform sends, by trace.
type spans struct {
	collector.UnimplementedTraceServiceServer

	lock    sync.Mutex
	byTrace map[string][]*otlp.Span
}

// collectSpans receives them from the platforms that this benchmark starts later.
func collectSpans(b *testing.B) *spans {
	b.Helper()
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	s, server := &spans{byTrace: map[string][]*otlp.Span{}}, grpc.NewServer()
	collector.RegisterTraceServiceServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	b.Cleanup(func() {
		server.Stop()
		require.NoError(b, <-served)
	})
	b.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://"+listener.Addr().String())
	b.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	return s
}

// Export implements collector.TraceServiceServer.
func (s *spans) Export(_ context.Context, req *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, resource := range req.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				trace := string(span.GetTraceId())
				s.byTrace[trace] = append(s.byTrace[trace], span)
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// roundTrip is the metric of a kind of round trip; none for a span that is not one.
type roundTrip string

const (
	none       roundTrip = ""
	toService  roundTrip = "grpc-calls"
	toPostgres roundTrip = "postgres-round-trips"
	toRedis    roundTrip = "redis-round-trips"
)

func kindOf(span *otlp.Span) roundTrip {
	if span.GetKind() != otlp.Span_SPAN_KIND_CLIENT {
		return none
	}
	for _, a := range span.GetAttributes() {
		if a.GetKey() == "db.system.name" {
			return map[string]roundTrip{"postgresql": toPostgres, "redis": toRedis}[a.GetValue().GetStringValue()]
		}
	}
	if strings.Contains(span.GetName(), "Service/") {
		return toService
	}
	return none
}

// roundTrips counts those of a request until its answer. It is false until all spans have come: of a call, the server
// sends a span too.
func (s *spans) roundTrips(trace string) (counts map[roundTrip]int, complete bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	var root *otlp.Span
	for _, span := range s.byTrace[trace] {
		if len(span.GetParentSpanId()) == 0 {
			root = span
		}
	}
	if root == nil {
		return nil, false
	}
	counts = map[roundTrip]int{toPostgres: 0, toRedis: 0, toService: 0}
	served := 0
	for _, span := range s.byTrace[trace] {
		if span.GetStartTimeUnixNano() >= root.GetEndTimeUnixNano() {
			continue
		}
		if kind := kindOf(span); kind != none {
			counts[kind]++
		}
		if span.GetKind() == otlp.Span_SPAN_KIND_SERVER && span != root {
			served++
		}
	}
	return counts, counts[toService] == served
}

// roundTrips counts those of the third request of its kind: API key and settings are then cached.
func (f *costFixture) roundTrips(b *testing.B, s *spans, by *client, r request) (counts map[roundTrip]int) {
	b.Helper()
	f.drain(b)
	for range 3 {
		require.NoError(b, r.send(by))
		trace, err := hex.DecodeString(by.requestID)
		require.NoError(b, err)
		require.Eventually(b, func() (complete bool) {
			counts, complete = s.roundTrips(string(trace))
			return complete
		}, 20*time.Second, 20*time.Millisecond)
	}
	return counts
}
