package bench_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// cycle returns one order after another and then starts again.
type cycle struct {
	last   atomic.Int64
	orders []string
}

func (c *cycle) next() string { return c.orders[c.last.Add(1)%int64(len(c.orders))] }

const (
	// clients is the default number of concurrent clients on each side.
	clients = 16
	// iterationTime is short: the sides alternate, so that other work on the machine affects both.
	iterationTime = 2 * time.Second
)

// iterations is how often each side runs.
func iterations() int {
	if testing.Short() {
		return 3
	}
	return 9
}

// side is one side of a comparison, with its rates per second of each iteration.
type side struct {
	clients int
	rates   []float64
	// used and requests are the processor time and the number of answered requests, of all iterations.
	used     fixture.Usage
	requests int
}

// measure lets all clients send requests for one iteration, and then waits for the work that follows.
func (s *side) measure(b *testing.B, meter *fixture.Meter, request func(client int) error, after func()) {
	b.Helper()
	var perSecond float64
	var sum int
	used := meter.During(b, func() {
		perSecond, sum = sendAll(b, s.clients, request)
		after()
	})
	s.rates, s.requests, s.used = append(s.rates, perSecond), s.requests+sum, s.used.Plus(used)
}

func (s *side) String() string { return fmt.Sprintf("%.0f/s", s.rates[len(s.rates)-1]) }

// sendAll lets all clients send requests for one iteration and returns the number of responses per second and in total.
func sendAll(b *testing.B, clients int, request func(client int) error) (perSecond float64, sum int) {
	b.Helper()
	var group errgroup.Group
	answered := make([]int, clients)
	began := time.Now()
	for i := range clients {
		group.Go(func() error {
			for time.Since(began) < iterationTime {
				if err := request(i); err != nil {
					return err
				}
				answered[i]++
			}
			return nil
		})
	}
	require.NoError(b, group.Wait())
	took := time.Since(began)
	for _, n := range answered {
		sum += n
	}
	return float64(sum) / took.Seconds(), sum
}
