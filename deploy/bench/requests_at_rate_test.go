package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/partnergifting/platform/deploy/bench/stack"
)

// BenchmarkRequestsAtRate measures how long a request through the gateway takes, from when it was due to the end of its
// answer, while they come at a rate that leaves a quiet machine time to spare.
func BenchmarkRequestsAtRate(b *testing.B) {
	p := startOrders(b)
	orders := p.placeMany(b, newEdgeClient(b, p.env["GIFTING_URL"], p.keys))
	p.atRates(b, "get-order", func(by *edgeClient) error {
		_, err := by.get("/orders/" + orders.any())
		return err
	})
	p.atRates(b, "place-order", func(by *edgeClient) error {
		_, err := p.place(by)
		return err
	})
}

func (p *ordering) atRates(b *testing.B, name string, send func(by *edgeClient) error) {
	b.Helper()
	rates, measured := []int{50, 200, 500}, 10*time.Second
	if testing.Short() {
		rates, measured = []int{200}, 5*time.Second
	}
	b.Run(name, func(b *testing.B) {
		for _, perSecond := range rates {
			b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) {
				p.drain(b)
				loop := &openLoop{base: p.env["GIFTING_URL"], keys: p.keys, send: send}
				var took stack.Latencies
				once(b, func() { took = loop.run(b, perSecond, measured) })
				took.Report(b, "due")
				late, load := stack.Milliseconds(loop.late), stack.Load(b)
				b.ReportMetric(late, "max-ms-late")
				b.ReportMetric(load, "load")
				b.Logf("%d requests over %d connections; from due: %s; begun at most %.1f ms late; load %.1f",
					len(took), len(loop.free), took, late, load)
			})
		}
	})
}
