package bench_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	// clients are at work at once, on either side, where nothing else is said.
	clients = 16
	// A side has its turn, then the other: whatever else the machine does, both have their share of it.
	turn = 2 * time.Second
)

// rounds is how often each side has its turn.
func rounds() int {
	if testing.Short() {
		return 3
	}
	return 9
}

// side is what one side has done, turn by turn.
type side struct {
	// clients are at work at once. Zero: as many as everywhere.
	clients int
	// rates are of a second, used is the processors' time of each in microseconds.
	rates, used []float64
}

// take lets all clients do what once gives them for one turn, and then what has to follow from it. The time used is of
// this process, which is the platform and its clients, and of the backends of the database.
func (s *side) take(b *testing.B, database string, once func(client int) error, after func()) {
	b.Helper()
	var perSecond float64
	var sum int
	own := ownTime(b)
	backends := newProcessors(database).during(b.Context(), func() {
		perSecond, sum = rate(b, s.atOnce(), once)
		after()
	})
	s.rates = append(s.rates, perSecond)
	s.used = append(s.used, float64((backends+ownTime(b)-own).Microseconds())/float64(sum))
}

func (s *side) atOnce() int { return cmp.Or(s.clients, clients) }

func (s *side) String() string {
	last := len(s.rates) - 1
	return fmt.Sprintf("%.0f/s of %.0f µs CPU", s.rates[last], s.used[last])
}

// rate gives how many were done in a second, and in all.
func rate(b *testing.B, clients int, once func(client int) error) (perSecond float64, sum int) {
	b.Helper()
	var group errgroup.Group
	done := make([]int, clients)
	began := time.Now()
	for i := range clients {
		group.Go(func() error {
			for time.Since(began) < turn {
				if err := once(i); err != nil {
					return err
				}
				done[i]++
			}
			return nil
		})
	}
	require.NoError(b, group.Wait())
	took := time.Since(began)
	for _, n := range done {
		sum += n
	}
	return float64(sum) / took.Seconds(), sum
}

// ratios divides turn by turn.
func ratios(of, by []float64) []float64 {
	out := make([]float64, len(of))
	for i := range of {
		out[i] = of[i] / by[i]
	}
	return out
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// once runs f a single time, however short that is: its rounds are repetition enough, and what it writes stands in the way of
// another. The loop comes back until a second is over.
func once(b *testing.B, f func()) {
	b.Helper()
	var single sync.Once
	for b.Loop() {
		single.Do(f)
	}
	b.ReportMetric(0, "ns/op")
}
