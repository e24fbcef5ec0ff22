package bench_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// warmUp comes before the measured time, at the same rate: it makes the connections.
const warmUp = 2 * time.Second

// BenchmarkRequestsAtRate measures how long a request through the gateway takes, from when it was due to the end of its
// answer, at rates that leave a quiet machine time to spare.
func BenchmarkRequestsAtRate(b *testing.B) {
	f := newOrdersFixture(b)
	orders := f.placeMany(b)
	f.atRates(b, "get-order", func(by *client) error {
		_, err := by.get("/orders/" + orders.next())
		return err
	})
	f.atRates(b, "place-order", f.send)
}

func (f *ordersFixture) atRates(b *testing.B, name string, send func(by *client) error) {
	b.Helper()
	rates, measured := []int{50, 200, 500}, 10*time.Second
	if testing.Short() {
		rates, measured = []int{200}, 5*time.Second
	}
	b.Run(name, func(b *testing.B) {
		for _, perSecond := range rates {
			b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) {
				f.drain(b)
				free := &clientPool{new: func() *client { return f.clients(b, 1)[0] }, keys: f.keys}
				all := make(fixture.Latencies, int((warmUp+measured)/time.Second)*perSecond)
				var late time.Duration
				fixture.Once(b, func() {
					late = fixture.AtRate(b, perSecond, warmUp, measured, func(c fixture.Call) error {
						by, err := free.take()
						if err != nil {
							return err
						}
						err = send(by)
						all[c.Index] = time.Since(c.Due)
						free.giveBack(by)
						return err
					})
				})
				took := all[int(warmUp/time.Second)*perSecond:]
				slices.Sort(took)
				took.Report(b, "due")
				b.ReportMetric(fixture.Milliseconds(late), "max-ms-late")
				b.ReportMetric(fixture.Load(b), "load")
				b.Logf("%d requests over %d connections; from due: %s", len(took), len(free.clients), took)
			})
		}
	})
}

// clientPool keeps the clients that have no request, the last used one at the end: no more connections are in use than
// the rate needs.
type clientPool struct {
	new  func() *client
	keys *keyring

	lock    sync.Mutex
	clients []*client
	// key is that of every request until it is used up: the number of keys depends on the requests, not on the connections.
	key  string
	used int
}

func (p *clientPool) take() (by *client, err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.key == "" || p.used == requestsOfKey {
		if p.key, err = p.keys.take(); err != nil {
			return nil, err
		}
		p.used = 0
	}
	p.used++
	if last := len(p.clients) - 1; last >= 0 {
		by, p.clients = p.clients[last], p.clients[:last]
	} else {
		by = p.new()
	}
	by.key, by.used = p.key, 0
	return by, nil
}

func (p *clientPool) giveBack(by *client) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.clients = append(p.clients, by)
}
