package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
	"github.com/partnergifting/platform/deploy/bench/report"
)

const (
	// arrivalTimeout is how long the last change of a run may take.
	arrivalTimeout = 20 * time.Second
	pollInterval   = 5 * time.Millisecond
)

// measuredTime is how long changes are made and measured.
func measuredTime() time.Duration {
	if testing.Short() {
		return 5 * time.Second
	}
	return 15 * time.Second
}

// rates are changes per second.
func rates() []int {
	if testing.Short() {
		return []int{200}
	}
	return report.Rates()
}

// BenchmarkChangeToReceiver measures from a change to its event at the receiver. The changes are spread evenly over the
// endpoints, each of which belongs to a tenant of its own.
func BenchmarkChangeToReceiver(b *testing.B) {
	for _, endpoints := range report.Endpoints() {
		for _, perSecond := range rates() {
			if testing.Short() && endpoints == 1 {
				continue
			}
			b.Run(fmt.Sprintf("endpoints=%d/rate=%d", endpoints, perSecond), func(b *testing.B) {
				p, r := newFixture(b), newReceiver(b, true)
				w := newWriter(p.recordChanges(b), p.tenants(b, r.urls(endpoints)))
				var used fixture.Usage
				m := p.NewMeter(b)
				fixture.Once(b, func() {
					used = m.During(b, func() {
						w.run(b, perSecond, measuredTime())
						r.await(b, w)
					})
				})
				p.report(b, w, r.first(b), used)
			})
		}
	}
}

// await returns when every measured change has arrived at least once.
func (r *receiver) await(b *testing.B, w *writer) {
	b.Helper()
	var missing int
	require.Eventually(b, func() bool {
		missing = 0
		arrived := r.first(b)
		for id := range w.answered {
			if _, found := arrived[id]; !found {
				missing++
			}
		}
		return missing == 0
	}, arrivalTimeout, 20*pollInterval, "changes that do not arrive")
}
