package report

import "strings"

// column is a metric with what stands above it in a table.
type column struct{ head, metric string }

// columns have the names of their metrics.
func columns(metrics ...string) []column {
	out := make([]column, len(metrics))
	for i, metric := range metrics {
		out[i] = column{head: metric, metric: metric}
	}
	return out
}

// writeColumns writes a table of benchmarks that measure the same.
func (r Report) writeColumns(line func(string, ...any), title, begin string, columns ...column) {
	headed := false
	for _, result := range r.Results {
		if !strings.HasPrefix(result.Benchmark, begin) {
			continue
		}
		if !headed {
			headed = true
			line("\n%s", title)
			for _, c := range columns {
				line("\t%s", c.head)
			}
			line("\n")
		}
		line("  %s", strings.TrimSuffix(strings.TrimPrefix(result.Benchmark, begin), "/"))
		for _, c := range columns {
			if value, measured := result.Metrics[c.metric]; measured {
				line("\t%s", number(value))
			} else {
				line("\t-")
			}
		}
		line("\n")
	}
}
