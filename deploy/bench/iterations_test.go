package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

const (
	// clients send requests at the same time, on either side, where nothing else is said.
	clients = 16
	// iterationTime is short: one side runs, then the other, so that other work on the machine meets both.
	iterationTime = 2 * time.Second
)

// iterations is how often each side runs.
func iterations() int {
	if testing.Short() {
		return 3
	}
	return 9
}

// side is one side of a comparison, with its results of each iteration.
type side struct {
	clients int
	// rates are per second, used is the processor time of each request in microseconds.
	rates, used []float64
}

// measure has all clients send requests for one iteration, and then does what has to follow. The time used is that of this
// process, which is the platform and its clients, and of the backends of the database.
func (s *side) measure(b *testing.B, meter *fixture.Meter, request func(client int) error, after func()) {
	b.Helper()
	var perSecond float64
	var sum int
	used := meter.During(b, func() {
		perSecond, sum = sendAll(b, s.clients, request)
		after()
	})
	s.add(perSecond, float64(used.Sum().Microseconds())/float64(sum))
}

func (s *side) add(perSecond, used float64) {
	s.rates, s.used = append(s.rates, perSecond), append(s.used, used)
}

func (s *side) String() string {
	last := len(s.rates) - 1
	return fmt.Sprintf("%.0f/s of %.0f µs CPU", s.rates[last], s.used[last])
}

// sendAll has all clients send requests for one iteration and returns how many were answered in a second, and in all.
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
