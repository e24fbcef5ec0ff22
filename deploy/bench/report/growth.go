package report

import (
	"slices"
	"strconv"
	"strings"
)

// The middles of the names of what the benchmarks of growth measure.
const (
	msAt     = "-ms-"
	growthAt = "-growth-"
)

// growth is what the metrics of a benchmark of growth are of.
type growth struct {
	operations []string
	// sizes are in rising order.
	sizes []string
}

func growthOf(r Result) (growth, bool) {
	var g growth
	for _, metric := range r.names() {
		operation, size, found := strings.Cut(metric, msAt)
		if !found || !strings.HasPrefix(r.Benchmark, "GrowthOf") {
			continue
		}
		if !slices.Contains(g.operations, operation) {
			g.operations = append(g.operations, operation)
		}
		if !slices.Contains(g.sizes, size) {
			g.sizes = append(g.sizes, size)
		}
	}
	slices.SortFunc(g.sizes, func(a, b string) int { return rows(a) - rows(b) })
	return g, len(g.sizes) > 1
}

// rows reads a size such as 10k or 3M.
func rows(size string) int {
	n, _ := strconv.Atoi(strings.TrimRight(size, "kM")) // Written by the benchmark.
	switch {
	case strings.HasSuffix(size, "M"):
		return n * 1_000_000
	case strings.HasSuffix(size, "k"):
		return n * 1_000
	}
	return n
}
