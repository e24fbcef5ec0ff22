package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// BenchmarkRollOut restarts one of two instances of every program at the same moment while orders are placed, and compares the
// minute from then on with the next one: latencies from the time at which a request was due until its event is at the receiver.
func BenchmarkRollOut(b *testing.B) {
	if testing.Short() {
		b.Skip("it needs programs of their own")
	}
	for _, perSecond := range []int{20, 200} {
		b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) { rollOut(b, perSecond) })
	}
}

func rollOut(b *testing.B, perSecond int) {
	b.Helper()
	const before, minute = 30 * time.Second, time.Minute
	r := fixture.NewReceiver(b)
	p := &platform{}
	var tenants []tenant
	p.Platform = fixture.DeployTwice(b, func(started *fixture.Platform) {
		tenants = (&platform{started}).tenants(b, r.URLs(endpoints))
	})
	w := newWriter(p.acceptOrders(b), tenants)
	var restarted, ready time.Time
	var arrived map[string]time.Time
	fixture.Once(b, func() {
		ended := make(chan error, 1)
		time.AfterFunc(fixture.WarmUp+before, func() {
			restarted = time.Now()
			var group errgroup.Group
			for _, program := range p.Second {
				group.Go(func() error { return program.Restart(b.Context()) })
			}
			err := group.Wait()
			ready = time.Now()
			ended <- err
		})
		w.run(b, perSecond, before+2*minute)
		require.NoError(b, <-ended)
		arrived = await(b, r, w)
	})
	phases := map[string]map[string]time.Time{"before": {}, "first": {}, "later": {}}
	for id, due := range w.due {
		switch since := due.Sub(restarted); {
		case since < 0:
			phases["before"][id] = due
		case since < minute:
			phases["first"][id] = due
		default:
			phases["later"][id] = due
		}
	}
	first, later := fixture.Between(phases["first"], arrived), fixture.Between(phases["later"], arrived)
	first.Report(b, "due-in-first-minute")
	later.Report(b, "due-later")
	b.ReportMetric(first.At(.99)/later.At(.99), "first/later")
	b.ReportMetric(fixture.Load(b), "load")
	for from := time.Duration(0); from < minute; from += 5 * time.Second {
		within := map[string]time.Time{}
		for id, due := range phases["first"] {
			if since := due.Sub(restarted); since >= from && since < from+5*time.Second {
				within[id] = due
			}
		}
		b.Logf("%s: answered %s, arrived %s", from, fixture.Between(within, w.answered), fixture.Between(within, arrived))
	}
	b.Logf("ready after %s; before: %s; first minute: %s; later: %s; load %.1f", ready.Sub(restarted).Round(time.Millisecond),
		fixture.Between(phases["before"], arrived), first, later, fixture.Load(b))
}
