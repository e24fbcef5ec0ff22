package growth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

const (
	// warmUps come before the measured repetitions: they prepare statements and read pages into memory.
	warmUps = 20
	// repetitions are how often each operation is called at each size.
	repetitions      = 201
	shortRepetitions = 101
)

// operation is a call with its name. The number is another one each time.
type operation struct {
	name string
	call func(n int) error
}

// measure calls the operations at all sizes alternately. operations holds those of each size in the same order.
func measure(b *testing.B, platforms []*platform, operations [][]operation) {
	b.Helper()
	measured := repetitions
	if testing.Short() {
		measured = shortRepetitions
	}
	took := make([][][]float64, len(platforms))
	for i := range took {
		took[i] = make([][]float64, len(operations[i]))
	}
	for n := range warmUps + measured {
		for o := range operations[0] {
			for position := range platforms {
				// Another size is the first each time.
				i := (position + n) % len(platforms)
				began := time.Now()
				err := operations[i][o].call(n)
				if n >= warmUps {
					took[i][o] = append(took[i][o], fixture.Milliseconds(time.Since(began)))
				}
				require.NoError(b, err, operations[i][o].name)
			}
		}
	}
	for o, operation := range operations[0] {
		smallest := fixture.Median(took[0][o])
		for i, p := range platforms {
			here := fixture.Median(took[i][o])
			b.ReportMetric(here, operation.name+"-ms-"+nameOf(p.size))
			if i > 0 {
				b.ReportMetric(here/smallest, operation.name+"-growth-"+nameOf(p.size))
			}
		}
	}
	for _, p := range platforms {
		b.ReportMetric(p.bytesOfEach, "bytes-of-each-"+nameOf(p.size))
	}
}
