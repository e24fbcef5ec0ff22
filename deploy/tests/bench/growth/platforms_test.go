package growth_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// smallest is the size with which the others are compared.
const smallest = 10_000

// largestVariable is the number of rows of a third, larger platform.
const largestVariable = "GIFTING_BENCH_ROWS"

// sizes are numbers of rows.
func sizes(b *testing.B) []int {
	b.Helper()
	if testing.Short() {
		return []int{smallest, 100_000}
	}
	all := []int{smallest, 1_000_000}
	if text := os.Getenv(largestVariable); text != "" {
		largest, err := strconv.Atoi(text)
		require.NoError(b, err, largestVariable)
		all = append(all, largest)
	}
	return all
}

// nameOf returns a size as metrics name it.
func nameOf(size int) string {
	if size >= 1_000_000 {
		return fmt.Sprintf("%dM", size/1_000_000)
	}
	return fmt.Sprintf("%dk", size/1_000)
}

// platform is a platform with a number of rows.
type platform struct {
	*fixture.Platform

	size        int
	tenant      fixture.Tenant
	bytesOfEach float64
}

// storage measures the size of a row, with its share of everything else.
func (p *platform) storage(b *testing.B, pool *pgxpool.Pool) {
	b.Helper()
	var bytes float64
	require.NoError(b, pool.QueryRow(b.Context(), "SELECT pg_database_size(current_database())").Scan(&bytes))
	p.bytesOfEach = bytes / float64(p.size)
	b.Logf("%s rows: %.0f MB, %.0f bytes of each", nameOf(p.size), bytes/(1<<20), p.bytesOfEach)
}

func newPlatforms(b *testing.B) []*platform {
	b.Helper()
	var all []*platform
	for _, size := range sizes(b) {
		p := &platform{Platform: fixture.Start(b), size: size}
		p.tenant = p.NewTenant(b)
		all = append(all, p)
	}
	return all
}

const (
	// warmUps is how many calls come before the measured ones. They prepare statements and read pages into memory.
	warmUps = 20
	// repetitions is how often each operation is called at each size.
	repetitions      = 201
	shortRepetitions = 101
)

// operation is a call with its name. Its number is different each time.
type operation struct {
	name string
	call func(n int) error
}

// measure calls the operations at all sizes in turn. operations holds those of each size in the same order.
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
				// Each time another size is first.
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
