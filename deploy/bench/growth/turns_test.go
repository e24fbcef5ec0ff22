package growth_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// warmUps come before what is measured: statements are prepared, pages are read into memory.
	warmUps = 20
	// rounds are of one call of each operation at each size.
	rounds      = 201
	shortRounds = 101
)

// operation is a call by its name. The number is another one each time.
type operation struct {
	name string
	call func(n int) error
}

// measure makes the calls in turn. operations holds those of each size in the same order.
func measure(b *testing.B, platforms []*platform, operations [][]operation) {
	b.Helper()
	measured := rounds
	if testing.Short() {
		measured = shortRounds
	}
	took := make([][][]time.Duration, len(platforms))
	for i := range took {
		took[i] = make([][]time.Duration, len(operations[i]))
	}
	for n := range warmUps + measured {
		for o := range operations[0] {
			for turn := range platforms {
				// Another one is the first each time.
				i := (turn + n) % len(platforms)
				began := time.Now()
				err := operations[i][o].call(n)
				if n >= warmUps {
					took[i][o] = append(took[i][o], time.Since(began))
				}
				require.NoError(b, err, operations[i][o].name)
			}
		}
	}
	report(b, platforms, operations[0], took)
}

// report tells the medians and what they are of that of the smallest size.
func report(b *testing.B, platforms []*platform, operations []operation, took [][][]time.Duration) {
	b.Helper()
	for o, operation := range operations {
		least := median(took[0][o])
		b.ReportMetric(least, operation.name+"-ms-"+nameOf(platforms[0].size))
		for i, p := range platforms[1:] {
			here := median(took[i+1][o])
			b.ReportMetric(here, operation.name+"-ms-"+nameOf(p.size))
			b.ReportMetric(here/least, operation.name+"-growth-"+nameOf(p.size))
		}
	}
	for _, p := range platforms {
		b.ReportMetric(p.bytesOfEach, "bytes-of-each-"+nameOf(p.size))
	}
	b.ReportMetric(0, "ns/op")
}

// median is in milliseconds.
func median(of []time.Duration) float64 {
	slices.Sort(of)
	return float64(of[len(of)/2].Microseconds()) / 1000
}
