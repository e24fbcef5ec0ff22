package bench_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// requireDeployed skips a benchmark that measures single programs, which a quick run does not have.
func requireDeployed(b *testing.B) {
	b.Helper()
	if testing.Short() {
		b.Skip("it measures programs in processes of their own")
	}
}

const (
	// idleSettle passes before: consumers join their groups, and services that have just started read everything once.
	idleSettle = 15 * time.Second
	idleTime   = 30 * time.Second
)

// BenchmarkIdle measures what the platform uses without requests, with a hundred tenants that have keys and endpoints.
func BenchmarkIdle(b *testing.B) {
	requireDeployed(b)
	r := fixture.NewReceiver(b)
	p := fixture.Deploy(b, func(p *fixture.Platform) {
		for _, url := range r.URLs(100) {
			_, err := p.NewTenant(b).NewKey(b.Context(), url)
			require.NoError(b, err)
		}
	})
	m := p.NewMeter(b)
	var used fixture.Usage
	var counted fixture.Counters
	fixture.Once(b, func() {
		<-time.After(idleSettle)
		counted = p.Count(b, func() { used = m.During(b, func() { <-time.After(idleTime) }) })
	})
	share := func(d time.Duration) float64 { return d.Seconds() / idleTime.Seconds() * 100 }
	b.ReportMetric(share(used.Programs()), "programs-cpu-%")
	for party, of := range used {
		b.ReportMetric(share(of), "cpu-%-"+party)
	}
	counted.Report(b, idleTime.Seconds(), "s")
	var most float64
	for _, running := range p.Running {
		megabytes := running.Memory(b, fixture.Resident)
		b.ReportMetric(megabytes, "MB-"+running.Name)
		most = max(most, megabytes)
	}
	b.ReportMetric(most, "most-MB")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("CPU in %s: %s", idleTime, used)
}
