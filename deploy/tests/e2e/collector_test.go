package e2e_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	logsv1 "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// collector receives OTLP in this process and keeps everything.
type collector struct {
	tracev1.UnimplementedTraceServiceServer
	metricsv1.UnimplementedMetricsServiceServer
	logsv1.UnimplementedLogsServiceServer

	url  string
	lock sync.Mutex
	// got is every request as text.
	got   strings.Builder
	spans []span
	// logs holds the traces with a log line, metrics the names with a value.
	logs    map[string]bool
	metrics map[string]bool
}

// startCollector starts a collector. Stacks that this test starts later send to it, with short delays.
func startCollector(t *testing.T) *collector {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &collector{url: "http://" + listener.Addr().String(), logs: map[string]bool{}, metrics: map[string]bool{}}
	server := grpc.NewServer()
	tracev1.RegisterTraceServiceServer(server, c)
	metricsv1.RegisterMetricsServiceServer(server, metricsService{c})
	logsv1.RegisterLogsServiceServer(server, logsService{c})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
	})
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.url,
		"OTEL_BSP_SCHEDULE_DELAY":     "100",
		"OTEL_BLRP_SCHEDULE_DELAY":    "100",
		"OTEL_METRIC_EXPORT_INTERVAL": "1000",
	} {
		t.Setenv(name, value)
	}
	return c
}

// lockAndRecord locks the collector and appends the request to what was received. The caller unlocks it.
func (c *collector) lockAndRecord(m proto.Message) (unlock func()) {
	c.lock.Lock()
	c.got.WriteString(prototext.MarshalOptions{EmitASCII: false}.Format(m))
	return c.lock.Unlock
}

// Export implements tracev1.TraceServiceServer.
func (c *collector) Export(_ context.Context, req *tracev1.ExportTraceServiceRequest) (*tracev1.ExportTraceServiceResponse, error) {
	defer c.lockAndRecord(req)()
	for _, resource := range req.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, span{Span: s, service: text(resource.GetResource().GetAttributes(), "service.name")})
			}
		}
	}
	return &tracev1.ExportTraceServiceResponse{}, nil
}

// metricsService is the collector for metrics: the services of OTLP all have a method Export.
type metricsService struct{ *collector }

// Export implements metricsv1.MetricsServiceServer.
func (c metricsService) Export(
	_ context.Context, req *metricsv1.ExportMetricsServiceRequest,
) (*metricsv1.ExportMetricsServiceResponse, error) {
	defer c.lockAndRecord(req)()
	for _, resource := range req.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				c.metrics[m.GetName()] = true
			}
		}
	}
	return &metricsv1.ExportMetricsServiceResponse{}, nil
}

// logsService is the collector for logs.
type logsService struct{ *collector }

// Export implements logsv1.LogsServiceServer.
func (c logsService) Export(_ context.Context, req *logsv1.ExportLogsServiceRequest) (*logsv1.ExportLogsServiceResponse, error) {
	defer c.lockAndRecord(req)()
	for _, resource := range req.GetResourceLogs() {
		for _, scope := range resource.GetScopeLogs() {
			for _, line := range scope.GetLogRecords() {
				c.logs[id(line.GetTraceId())] = true
			}
		}
	}
	return &logsv1.ExportLogsServiceResponse{}, nil
}

// trace returns the spans of a trace that have arrived so far.
func (c *collector) trace(traceID string) trace {
	c.lock.Lock()
	defer c.lock.Unlock()
	var found trace
	for _, s := range c.spans {
		if id(s.GetTraceId()) == traceID {
			found = append(found, s)
		}
	}
	return found
}

// hasLogAndMetric reports whether a log line of the trace and a metric with the name have arrived.
func (c *collector) hasLogAndMetric(traceID, metric string) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.logs[traceID] && c.metrics[metric]
}

// everything returns all received data as text.
func (c *collector) everything() string {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.got.String()
}
