package bench_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	// clients are at work at once, on either side.
	clients = 16
	// A side has its turn, then the other: whatever else the machine does, both have their share of it.
	turn   = 2 * time.Second
	rounds = 7
)

// rate lets all clients do what once gives them for one turn, and gives how many they did in a second.
func rate(b *testing.B, once func(client int) error) float64 {
	b.Helper()
	var group errgroup.Group
	var done [clients]int
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
	sum := 0
	for _, n := range done {
		sum += n
	}
	return float64(sum) / took.Seconds()
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

// once runs f a single time, however long that is: its rounds are repetition enough.
func once(b *testing.B, f func()) {
	b.Helper()
	for b.Loop() {
		f()
	}
	b.ReportMetric(0, "ns/op")
}
