package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkCostOfRequest measures what a request takes: processor time of the platform with its clients, of the backends
// of PostgreSQL and of Redis, allocations, and round trips. What follows from a change, up to the feed, is part of it.
func BenchmarkCostOfRequest(b *testing.B) {
	p := &costing{ordering: startOrders(b)}
	p.redis = ownRedis(b)
	edge := newEdgeClients(b, clients, p.env["GIFTING_URL"], p.keys)
	p.orders = p.placeMany(b, edge[0])
	p.drain(b)
	idle := p.idle(b)
	requests := p.requests()
	costs := make([]cost, len(requests))
	for i, request := range requests {
		costs[i] = p.costOf(b, func(client int) error { return request.send(edge[client]) })
	}
	b.Run("idle-second", func(b *testing.B) {
		idle.report(b)
	})
	traced := startTraced(b)
	for i, request := range requests {
		b.Run(request.name, func(b *testing.B) {
			costs[i].report(b)
			traced.trips(b, request.name).report(b)
		})
	}
}

// costing is a platform whose requests are measured.
type costing struct {
	*ordering

	orders *shelf
	// redis is the folder of its process.
	redis string
	// end is a cursor behind the last event.
	look  sync.Once
	end   string
	fault error
}

// cost is of one request.
type cost struct {
	platform, database, redis float64
	allocations, kilobytes    float64
}

// costOf lets all clients send what once sends for one turn.
func (p *costing) costOf(b *testing.B, once func(client int) error) cost {
	b.Helper()
	// As the server would have done by itself in the time in which so many orders come in.
	_, err := p.db.Exec(b.Context(), "VACUUM (ANALYZE)")
	require.NoError(b, err)
	return p.spend(b, func() int {
		_, sum := rate(b, clients, once)
		p.drain(b)
		return sum
	})
}

// idle is what a platform takes in a second in which nobody asks for anything.
func (p *costing) idle(b *testing.B) cost {
	b.Helper()
	seconds := int(turn.Seconds())
	return p.spend(b, func() int {
		<-time.After(turn)
		return seconds
	})
}

// spend gives what f takes for each of so many as it says.
func (p *costing) spend(b *testing.B, f func() int) cost {
	b.Helper()
	var before, after runtime.MemStats
	var n int
	runtime.ReadMemStats(&before)
	own, redisBefore := ownTime(b), used(p.redis)
	backends := newProcessors(strings.TrimSuffix(p.db.Config().Database, "orders")).during(b.Context(), func() { n = f() })
	spent, redisSpent := ownTime(b)-own, used(p.redis)-redisBefore
	runtime.ReadMemStats(&after)
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(n) }
	return cost{
		platform: each(spent), database: each(backends), redis: each(redisSpent),
		allocations: float64(after.Mallocs-before.Mallocs) / float64(n),
		kilobytes:   float64(after.TotalAlloc-before.TotalAlloc) / float64(n) / 1024,
	}
}

// ownRedis is the folder in /proc of the Redis that this process has started.
func ownRedis(b *testing.B) string {
	b.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(b, err)
	own := regexp.MustCompile(fmt.Sprintf(`^\d+ \(redis-[a-z-]+\) [A-Z] %d `, os.Getpid()))
	var found []string
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil && own.Match(raw) {
			found = append(found, filepath.Dir(file))
		}
	}
	require.Len(b, found, 1, "one Redis per platform")
	return found[0]
}

func (c cost) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(c.platform, "platform-µs")
	b.ReportMetric(c.database, "database-µs")
	b.ReportMetric(c.redis, "redis-µs")
	b.ReportMetric(c.allocations, "allocations")
	b.ReportMetric(c.kilobytes, "allocated-KB")
}
