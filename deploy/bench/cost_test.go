package bench_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// BenchmarkCostOfRequest measures what a request costs: processor time by program and server, statements, commits, and round trips until
// its response. The work that follows a change, up to the feed, is included.
func BenchmarkCostOfRequest(b *testing.B) {
	requireDeployed(b)
	f := newCostFixture(b, deployOrders(b, nil))
	all := f.clients(b, clients)
	requests := f.requests()
	costs := make([]cost, len(requests))
	for i, r := range requests {
		costs[i] = f.costOf(b, func(client int) error { return r.send(all[client]) })
	}
	spans := collectSpans(b)
	traced := newCostFixture(b, deployOrders(b, nil))
	by := traced.clients(b, 1)[0]
	for i, r := range traced.requests() {
		b.Run(r.name, func(b *testing.B) {
			costs[i].report(b)
			for kind, n := range traced.roundTrips(b, spans, by, r) {
				b.ReportMetric(float64(n), string(kind))
			}
		})
	}
}

// costFixture is a platform with orders whose requests are measured.
type costFixture struct {
	*ordersFixture

	orders *cycle
	meter  *fixture.Meter
	// end is a cursor after the last event, found by the first request that needs it.
	findEnd sync.Once
	end     string
	endErr  error
}

func newCostFixture(b *testing.B, of *ordersFixture) *costFixture {
	b.Helper()
	f := &costFixture{ordersFixture: of}
	f.orders, f.meter = f.placeMany(b), f.NewMeter(b)
	f.drain(b)
	return f
}

// request is a kind of request.
type request struct {
	name string
	send func(by *client) error
}

func (f *costFixture) requests() []request {
	get := func(path func() string) func(by *client) error {
		return func(by *client) error {
			_, err := by.get(path())
			return err
		}
	}
	return []request{
		{"place-order", f.send},
		{"post-message", func(by *client) error {
			name := "message-" + strconv.FormatInt(f.placed.Add(1), 10)
			_, err := by.post("/orders/"+f.orders.next()+"/messages", name, `{"body": "When will it come?"}`, http.StatusCreated)
			return err
		}},
		{"get-order", get(func() string { return "/orders/" + f.orders.next() })},
		{"list-50-orders", get(func() string { return "/orders" })},
		{"read-50-events", get(func() string { return "/events" })},
		{"poll-nothing-new", func(by *client) error {
			f.findEnd.Do(func() { f.end, f.endErr = endOfFeed(by) })
			if f.endErr != nil {
				return f.endErr
			}
			_, err := by.get("/events?after=" + f.end)
			return err
		}},
	}
}

func endOfFeed(by *client) (cursor string, err error) {
	for path := "/events?limit=100"; ; path = "/events?limit=100&after=" + cursor {
		answer, err := by.get(path)
		if err != nil {
			return "", err
		}
		var page struct {
			Items      []json.RawMessage
			NextCursor *string
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return "", err
		}
		if len(page.Items) == 0 || page.NextCursor == nil {
			return cursor, nil
		}
		cursor = *page.NextCursor
	}
}

// cost is what requests cost.
type cost struct {
	requests int
	used     fixture.Usage
	counters fixture.Counters
}

// costOf lets all clients send requests for one iteration.
func (f *costFixture) costOf(b *testing.B, send func(client int) error) (of cost) {
	b.Helper()
	// The server would do this itself in the time in which so many orders normally arrive.
	_, err := f.db.Exec(b.Context(), "VACUUM (ANALYZE)")
	require.NoError(b, err)
	of.counters = f.Count(b, func() {
		of.used = f.meter.During(b, func() {
			_, of.requests = sendAll(b, clients, send)
			f.drain(b)
		})
	})
	return of
}

func (c cost) report(b *testing.B) {
	b.Helper()
	c.used.Report(b, c.requests, time.Microsecond, "µs")
	c.counters.Report(b, float64(c.requests), "request")
}

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

// roundTrip is the metric of a kind of round trip. It is empty for a span that is not a round trip.
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

// roundTrips counts the round trips of a request until its response. complete is false until all spans have arrived, including
// those of the servers.
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

// roundTrips counts the round trips of the third request of its kind, when API key and settings are cached.
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
