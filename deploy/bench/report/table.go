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
	line("Against the limits\n")
	growth := 0
	for _, j := range r.Judged {
		if strings.Contains(j.Metric, growthAt) && j.Reached {
			growth++
			continue
		}
		line("  %s\t%s\t%s\t%s %s\t%s\n", j.What, j.place(), number(j.Seen), j.sign(), number(j.Limit), j.verdict())
	}
	if growth > 0 {
		line("  slower than at the smallest size\twithin the limit: %d operations and sizes\t\t\treached\n", growth)
	}
	r.writeGrowth(line)
	r.writeColumns(line, "Latency", "ChangeTo", "from record, ms", "p50-ms-from-record", "p95-ms-from-record", "p99-ms-from-record", "cpu-s/1000", "load")
	r.writeColumns(line, "Cost of a request", "CostOfRequest/", "", "platform-µs", "database-µs", "redis-µs", "allocations", "allocated-KB",
		"postgres-trips", "redis-trips", "grpc-calls")
	r.writeColumns(line, "Programs", "Footprint/", "", "start-ms", "idle-MB", "loaded-MB", "binary-MB")
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
	for _, begin := range []string{"GrowthOf", "ChangeTo", "CostOfRequest/", "Footprint/"} {
		if strings.HasPrefix(benchmark, begin) {
			return true
		}
	}
	return false
}

// writeColumns writes a table of benchmarks that measure the same.
func (r Report) writeColumns(line func(string, ...any), title, begin, unit string, metrics ...string) {
	headed := false
	for _, result := range r.Results {
		if !strings.HasPrefix(result.Benchmark, begin) {
			continue
		}
		if !headed {
			headed = true
			line("\n%s\t%s\n", title, strings.Join(metrics, "\t"))
			if unit != "" {
				line("  %s\n", unit)
			}
		}
		line("  %s", strings.TrimSuffix(strings.TrimPrefix(result.Benchmark, begin), "/"))
		for _, metric := range metrics {
			if value, measured := result.Metrics[metric]; measured {
				line("\t%s", number(value))
			} else {
				line("\t-")
			}
		}
		line("\n")
	}
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

func (j Judged) place() string {
	if strings.Contains(j.Benchmark, "/") || strings.Contains(j.Metric, growthAt) {
		return j.Benchmark + " " + strings.Replace(j.Metric, growthAt, " at ", 1)
	}
	return j.Benchmark
}

func (j Judged) sign() string {
	if j.Least {
		return "≥"
	}
	return "≤"
}

func (j Judged) verdict() string {
	if j.Reached {
		return "reached"
	}
	return "MISSED"
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
