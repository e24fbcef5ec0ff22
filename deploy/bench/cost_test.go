package bench_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
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
	"github.com/partnergifting/platform/deploy/programs"
)

// BenchmarkCostOfRequest measures what a request uses: processor time of the platform with its clients, of the backends of
// PostgreSQL and of Redis, allocations, and round trips. The work that follows a change, up to the feed, is included.
func BenchmarkCostOfRequest(b *testing.B) {
	f := newCostFixture(b)
	f.redis, f.meter = ownRedis(b), fixture.NewMeter(b, f.Config.Name)
	all := f.clients(b, clients)
	idle := f.idle(b)
	requests := f.requests()
	costs := make([]cost, len(requests))
	for i, r := range requests {
		costs[i] = f.costOf(b, func(client int) error { return r.send(all[client]) })
	}
	b.Run("idle-second", func(b *testing.B) { idle.report(b) })
	spans := collectSpans(b)
	traced := newCostFixture(b)
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
	// redis is the id of its process.
	redis int
	meter *fixture.Meter
	// end is a cursor after the last event, found by the first request that needs it.
	findEnd sync.Once
	end     string
	endErr  error
}

func newCostFixture(b *testing.B) *costFixture {
	b.Helper()
	f := &costFixture{ordersFixture: newOrdersFixture(b)}
	f.orders = f.placeMany(b)
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

// cost is the cost of one request.
type cost struct {
	platform, database, redis float64
	allocations, kilobytes    float64
}

// costOf lets all clients send requests for one iteration.
func (f *costFixture) costOf(b *testing.B, send func(client int) error) cost {
	b.Helper()
	// The server would do this itself in the time in which so many orders normally arrive.
	_, err := f.db.Exec(b.Context(), "VACUUM (ANALYZE)")
	require.NoError(b, err)
	return f.measure(b, func() int {
		_, sum := sendAll(b, clients, send)
		f.drain(b)
		return sum
	})
}

// idle is what a platform uses in a second without requests.
func (f *costFixture) idle(b *testing.B) cost {
	b.Helper()
	return f.measure(b, func() int {
		<-time.After(iterationTime)
		return int(iterationTime.Seconds())
	})
}

// measure returns what work uses for each of the requests that it counts.
func (f *costFixture) measure(b *testing.B, work func() int) cost {
	b.Helper()
	var before, after runtime.MemStats
	var n int
	runtime.ReadMemStats(&before)
	redis := fixture.TimeOf(f.redis)
	used := f.meter.During(b, func() { n = work() })
	redis = fixture.TimeOf(f.redis) - redis
	runtime.ReadMemStats(&after)
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(n) }
	return cost{
		platform: each(used.Platform), database: each(used.Database), redis: each(redis),
		allocations: float64(after.Mallocs-before.Mallocs) / float64(n),
		kilobytes:   float64(after.TotalAlloc-before.TotalAlloc) / float64(n) / 1024,
	}
}

func (c cost) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(c.platform, "platform-µs")
	b.ReportMetric(c.database, "database-µs")
	b.ReportMetric(c.redis, "redis-µs")
	b.ReportMetric(c.allocations, "allocations")
	b.ReportMetric(c.kilobytes, "allocated-KB")
}

// ownRedis returns the id of the Redis process that this process started.
func ownRedis(b *testing.B) int {
	b.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(b, err)
	own := regexp.MustCompile(fmt.Sprintf(`^\d+ \(redis-[a-z-]+\) [A-Z] %d `, os.Getpid()))
	var found []string
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil && own.Match(raw) {
			found = append(found, strings.Split(file, "/")[2])
		}
	}
	require.Len(b, found, 1, "one Redis per platform")
	pid, err := strconv.Atoi(found[0])
	require.NoError(b, err)
	return pid
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

// BenchmarkFootprint starts every program in its own process, as a deployment does. It measures the time of the start, and each
// program's memory before and after a load with all clients.
func BenchmarkFootprint(b *testing.B) {
	f := &ordersFixture{}
	fixture.Prepare(b, func(p *fixture.Platform) {
		f.Platform = p
		f.use(b, p.NewTenant(b))
	})
	programs := launch(b, f.Platform)
	idle := memory(b, programs, "VmRSS")
	all := f.clients(b, clients)
	perSecond, _ := sendAll(b, clients, func(i int) error { return f.send(all[i]) })
	f.drain(b)
	_, _ = sendAll(b, clients, func(i int) error {
		_, err := all[i].get("/orders?limit=100")
		return err
	})
	loaded := memory(b, programs, "VmHWM")
	b.Logf("%.0f orders/s; one process with all programs was ready after %s", perSecond, f.Took.Round(time.Millisecond))
	for i, p := range programs {
		b.Run(p.name, func(b *testing.B) {
			b.ReportMetric(float64(p.took.Milliseconds()), "start-ms")
			b.ReportMetric(idle[i], "idle-MB")
			b.ReportMetric(loaded[i], "loaded-MB")
			b.ReportMetric(float64(p.bytes)/(1<<20), "binary-MB")
		})
	}
}

// memory reads a line of /proc/<pid>/status: VmRSS is the memory of a program, VmHWM the most it ever had.
func memory(b *testing.B, of []*program, line string) (megabytes []float64) {
	b.Helper()
	number := regexp.MustCompile(`(?m)^` + line + `:\s+(\d+) kB$`)
	for _, p := range of {
		status, err := os.ReadFile(p.proc + "/status")
		require.NoError(b, err)
		found := number.FindSubmatch(status)
		require.NotNil(b, found, "%s", status)
		kilobytes, err := strconv.Atoi(string(found[1]))
		require.NoError(b, err)
		megabytes = append(megabytes, float64(kilobytes)/1024)
	}
	return megabytes
}

// program is a program of the platform in its own process.
type program struct {
	name  string
	took  time.Duration
	proc  string
	bytes int64
}

// launch starts all programs one after another and returns when all are ready.
func launch(b *testing.B, p *fixture.Platform) (launched []*program) {
	b.Helper()
	binaries := b.TempDir()
	b.Setenv("CGO_ENABLED", "0") // As in a release.
	require.NoError(b, programs.Build(b.Context(), binaries, "", []string{"-trimpath"}))
	for _, of := range programs.All() {
		env := os.Environ()
		for name, value := range p.Programs[of.Name] {
			env = append(env, name+"="+value)
		}
		readyz := "http://" + p.Programs[of.Name]["GIFTING_METRICS_ADDR"] + "/readyz"
		launched = append(launched, start(b, filepath.Join(binaries, string(of.Name)), env, readyz))
	}
	return launched
}

// start starts a program and returns when it is ready.
func start(b *testing.B, path string, env []string, readyz string) *program {
	b.Helper()
	p := &program{name: filepath.Base(path)}
	info, err := os.Stat(path)
	require.NoError(b, err)
	p.bytes = info.Size()
	command := exec.CommandContext(context.WithoutCancel(b.Context()), path, "serve")
	var output bytes.Buffer
	command.Env, command.Stdout, command.Stderr = env, &output, &output
	began := time.Now()
	require.NoError(b, command.Start())
	b.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if b.Failed() {
			b.Logf("%s: %s", p.name, &output)
		}
	})
	p.proc = "/proc/" + strconv.Itoa(command.Process.Pid)
	require.Eventually(b, func() bool { return ready(b, readyz) }, time.Minute, time.Millisecond, "%s does not become ready", p.name)
	p.took = time.Since(began)
	return p
}

func ready(b *testing.B, readyz string) bool {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, readyz, http.NoBody)
	require.NoError(b, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	require.NoError(b, res.Body.Close())
	return res.StatusCode == http.StatusOK
}
