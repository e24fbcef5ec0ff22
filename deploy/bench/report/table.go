package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

func (r Result) names() []string { return slices.Sorted(maps.Keys(r.Metrics)) }

// WriteTable writes what stands against a limit, and then all that was measured.
func (r Report) WriteTable(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) } // The writer keeps the first error.
	r.writeJudged(line)
	r.writeGrowth(line)
	r.writeColumns(line, "Latency, ms from", "ChangeTo",
		column{"record: p50", "p50-ms-from-record"}, column{"p95", "p95-ms-from-record"}, column{"p99", "p99-ms-from-record"},
		column{"due: p50", "p50-ms-from-due"}, column{"p95", "p95-ms-from-due"}, column{"p99", "p99-ms-from-due"},
		column{"begun late by", "max-ms-late"}, column{"cpu-s/1000", "cpu-s/1000"}, column{"load", "load"})
	r.writeColumns(line, "Request at a rate, ms from", "RequestsAtRate/",
		column{"due: p50", "p50-ms-from-due"}, column{"p95", "p95-ms-from-due"}, column{"p99", "p99-ms-from-due"},
		column{"max", "max-ms-from-due"}, column{"begun late by", "max-ms-late"}, column{"load", "load"})
	r.writeColumns(line, "Cost of a request", "CostOfRequest/", columns("platform-µs", "database-µs", "redis-µs", "allocations",
		"allocated-KB", "postgres-trips", "redis-trips", "grpc-calls")...)
	r.writeColumns(line, "Programs", "Footprint/", columns("start-ms", "idle-MB", "loaded-MB", "binary-MB")...)
	line("\nMeasured\n")
	for _, result := range r.Results {
		if tabled(result.Benchmark) {
			continue
		}
		var all []string
		for _, metric := range result.names() {
			if metric != "ns/op" || result.Metrics[metric] != 0 {
				all = append(all, number(result.Metrics[metric])+" "+metric)
			}
		}
		line("  %s\t%s\n", result.Benchmark, strings.Join(all, ", "))
	}
	line("\n%s\n", r.Machine)
	return w.Flush()
}

// tabled says whether a benchmark has a table of its own.
func tabled(benchmark string) bool {
	for _, begin := range []string{"GrowthOf", "ChangeTo", "RequestsAtRate/", "CostOfRequest/", "Footprint/"} {
		if strings.HasPrefix(benchmark, begin) {
			return true
		}
	}
	return false
}

// writeGrowth writes a table of operations by sizes.
func (r Report) writeGrowth(line func(string, ...any)) {
	for _, result := range r.Results {
		g, ok := growthOf(result)
		if !ok {
			continue
		}
		line("\n%s", result.Benchmark)
		for _, size := range g.sizes {
			line("\tms at %s", size)
		}
		line("\tslower by\n")
		for _, operation := range g.operations {
			line("  %s", operation)
			for _, size := range g.sizes {
				line("\t%s", number(result.Metrics[operation+msAt+size]))
			}
			for _, size := range g.sizes[1:] {
				line("\t%s", number(result.Metrics[operation+growthAt+size]))
			}
			line("\n")
		}
	}
}

// number has about three digits.
func number(n float64) string {
	switch {
	case n >= 100 || n == 0:
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	case n >= 0.1:
		return fmt.Sprintf("%.2f", n)
	default:
		return fmt.Sprintf("%.3f", n)
	}
}
