package bench_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// variant is one of the platforms whose costs are compared. They run in the same process and do the same work.
type variant struct {
	name  string
	meter *fixture.Meter
	// change makes the requests of one change, and after waits for the work that follows all changes of a slice.
	change func(client int) error
	after  func()

	// used is the processor time of a change in each slice, in microseconds.
	used []float64
	took fixture.Latencies
}

// sliceChanges is how many changes each client makes in a slice. A slice is shorter than most other work on the machine.
const sliceChanges = 8

// compareCosts reports what the variants cost more than the first, as a share of its processor time: the median over the rounds,
// and the limits between which the true median lies with 95 %. The order of the variants is reversed in every second round.
func compareCosts(b *testing.B, variants ...*variant) {
	b.Helper()
	reversed := slices.Clone(variants)
	slices.Reverse(reversed)
	rounds := 30
	if testing.Short() {
		rounds = 20
	}
	for _, v := range variants {
		v.slice(b, 0) // Makes connections and fills caches.
		v.used, v.took = nil, nil
	}
	// What the idle platforms use meanwhile is no cost of the one that works. The meter of one counts all of them.
	all := variants[0].meter.During(b, func() { <-time.After(idleTime) }).Sum()
	idle := all.Seconds() / idleTime.Seconds() * float64(len(variants)-1) / float64(len(variants))
	fixture.Once(b, func() {
		for range rounds / 2 {
			for _, v := range slices.Concat(variants, reversed) {
				v.slice(b, idle)
				b.Logf("%s: %.0f µs CPU", v.name, v.used[len(v.used)-1])
			}
		}
	})
	for _, v := range variants {
		slices.Sort(v.took)
		b.Logf("%s: median %.0f µs CPU of a change; %s", v.name, fixture.Median(v.used), v.took)
		b.ReportMetric(fixture.Median(v.used)/1000, v.name+"-cpu-s/1000")
		b.ReportMetric(v.took.At(.5), v.name+"-p50-ms")
		b.ReportMetric(v.took.At(.99), v.name+"-p99-ms")
	}
	for _, v := range variants[1:] {
		median, low, high := medianOfRatios(v.used, variants[0].used)
		b.ReportMetric(median-1, v.name+"-cost")
		b.ReportMetric(low-1, v.name+"-cost-low")
		b.ReportMetric(high-1, v.name+"-cost-high")
	}
	b.ReportMetric(fixture.Load(b), "load")
}

// slice lets all clients make their changes. idle is the processor time that other platforms use in a second.
func (v *variant) slice(b *testing.B, idle float64) {
	b.Helper()
	var group errgroup.Group
	took := make([][sliceChanges]time.Duration, clients)
	began := time.Now()
	used := v.meter.During(b, func() {
		for i := range clients {
			group.Go(func() error {
				for n := range sliceChanges {
					due := time.Now()
					if err := v.change(i); err != nil {
						return err
					}
					took[i][n] = time.Since(due)
				}
				return nil
			})
		}
		require.NoError(b, group.Wait())
		v.after()
	})
	others := idle * time.Since(began).Seconds()
	v.used = append(v.used, (used.Sum().Seconds()-others)*1e6/(clients*sliceChanges))
	for i := range took {
		v.took = append(v.took, took[i][:]...)
	}
}

// medianOfRatios returns the median of the ratios a[i]/b[i] and the limits of its 95 % confidence interval, which are ratios too:
// the number of ratios below the true median is binomially distributed.
func medianOfRatios(a, b []float64) (median, low, high float64) {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	slices.Sort(ratios)
	n := float64(len(ratios))
	reach := 1.96 * math.Sqrt(n) / 2
	return fixture.Median(ratios), ratios[max(0, int(n/2-reach))], ratios[min(len(ratios)-1, int(math.Ceil(n/2+reach)))]
}
