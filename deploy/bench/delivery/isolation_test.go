package delivery_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

const (
	// deadEndpoint accepts connections and never answers, slowEndpoint answers after slowness.
	deadEndpoint = 98
	slowEndpoint = 99
	slowness     = 9 * time.Second
)

// BenchmarkBesideBadEndpoints measures how fast 98 of 100 endpoints get their events: first while the other two answer,
// then, in the same run, while one is dead and one is slow.
func BenchmarkBesideBadEndpoints(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes most of a minute")
	}
	p, r := newFixture(b), newReceiver(b, true)
	tenants, change := p.tenants(b, r.urls(endpoints)), p.recordChanges(b)
	bad := []int{deadEndpoint, slowEndpoint}
	var without, with fixture.Latencies
	fixture.Once(b, func() {
		without = p.latencies(b, r, change, tenants, bad)
		end := make(chan struct{})
		r.set(deadEndpoint, wait(end, time.Hour))
		r.set(slowEndpoint, wait(end, slowness))
		with = p.latencies(b, r, change, tenants, bad)
		close(end)
	})
	b.ReportMetric(without.At(.99), "p99-ms-without")
	b.ReportMetric(with.At(.99), "p99-ms-with")
	b.ReportMetric(with.At(.99)/without.At(.99), "with/without")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("without: %s; with: %s; load %.1f", without, with, fixture.Load(b))
}

// latencies measures at all endpoints but the bad ones.
func (p *platform) latencies(b *testing.B, r *receiver, change makeChange, tenants []tenant, bad []int) fixture.Latencies {
	b.Helper()
	w := newWriter(change, tenants)
	w.run(b, 200, 2*measuredTime())
	maps.DeleteFunc(w.answered, func(order string, _ time.Time) bool { return slices.Contains(bad, w.endpoints[order]) })
	r.await(b, w)
	return between(p.recorded(b, w.answered), r.first(b))
}

func wait(end <-chan struct{}, longest time.Duration) func(*http.Request) {
	return func(req *http.Request) {
		timer := time.NewTimer(longest)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-end:
		case <-req.Context().Done():
		}
	}
}
