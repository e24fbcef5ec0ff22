package bench_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// BenchmarkCostOfRequest measures what a request uses: processor time of the platform with its clients, of the backends
// of PostgreSQL and of Redis, allocations, and round trips. What follows from a change, up to the feed, is part of it.
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
	// end is a cursor behind the last event, found by the first request that needs it.
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

// cost is that of one request.
type cost struct {
	platform, database, redis float64
	allocations, kilobytes    float64
}

// costOf has all clients send requests for one iteration.
func (f *costFixture) costOf(b *testing.B, send func(client int) error) cost {
	b.Helper()
	// As the server does by itself in the time in which so many orders normally come in.
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

// ownRedis finds the process of the Redis that this process has started.
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
