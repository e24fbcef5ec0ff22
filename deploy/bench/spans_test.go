package bench_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// spans keeps the spans that a platform sends.
type spans struct {
	collector.UnimplementedTraceServiceServer

	lock sync.Mutex
	got  map[string][]*otlp.Span
}

// collectSpans receives them from the platforms that this benchmark starts later.
func collectSpans(b *testing.B) *spans {
	b.Helper()
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	s, server := &spans{got: map[string][]*otlp.Span{}}, grpc.NewServer()
	collector.RegisterTraceServiceServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	b.Cleanup(func() {
		server.Stop()
		require.NoError(b, <-served)
	})
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://" + listener.Addr().String(),
		"OTEL_BSP_SCHEDULE_DELAY":            "50",
	} {
		b.Setenv(name, value)
	}
	return s
}

// Export implements collector.TraceServiceServer.
func (s *spans) Export(_ context.Context, req *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, resource := range req.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				of := string(span.GetTraceId())
				s.got[of] = append(s.got[of], span)
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// request gives the spans of a request until it was answered, and says whether all of them have come: whoever is called
// sends a span too.
func (s *spans) request(traceID string) (found []*otlp.Span, complete bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	all := s.got[traceID]
	var root *otlp.Span
	for _, span := range all {
		if len(span.GetParentSpanId()) == 0 {
			root = span
		}
	}
	if root == nil {
		return nil, false
	}
	calls, served := 0, 0
	for _, span := range all {
		if span.GetStartTimeUnixNano() >= root.GetEndTimeUnixNano() {
			continue
		}
		found = append(found, span)
		if tripOf(span) == overGRPC {
			calls++
		}
		if span.GetKind() == otlp.Span_SPAN_KIND_SERVER && span != root {
			served++
		}
	}
	return found, calls == served
}
