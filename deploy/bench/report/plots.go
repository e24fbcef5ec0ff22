package report

import "strings"

// plots are the pictures of a report by the names of their files. What was not measured has none.
func (r Report) plots() map[string]string {
	out := map[string]string{}
	for file, p := range map[string]struct {
		title string
		bars  []bar
	}{
		"ratios.svg":    {"Ratios; the line is the limit", r.ratios()},
		"latency.svg":   {"From a change's record to its arrival, ms; the line is the limit", r.latencies()},
		"growth.svg":    {"Slower than at the smallest size, times; the line is the limit", r.grown()},
		"cost.svg":      {"Processor time of a request, µs", r.costs()},
		"footprint.svg": {"Memory of the programs, MB", r.footprints()},
	} {
		if len(p.bars) > 0 {
			out[file] = plotBars(p.title, p.bars)
		}
	}
	return out
}

// judged gives the bars of what stands against a limit.
func (r Report) judged(wanted func(Judged) bool) (bars []bar) {
	for _, j := range r.Judged {
		if j.Measured && wanted(j) {
			bars = append(bars, bar{label: j.place() + ": " + j.What, value: j.Seen, limit: j.Limit, good: j.Reached})
		}
	}
	return bars
}

func (r Report) ratios() []bar { return r.judged(func(j Judged) bool { return j.Least }) }

func (r Report) grown() (bars []bar) {
	for _, j := range r.Judged {
		operation, size, found := strings.Cut(j.Metric, growthAt)
		if found && j.Measured {
			bars = append(bars, bar{label: operation + " at " + size, value: j.Seen, limit: j.Limit, good: j.Reached})
		}
	}
	return bars
}

func (r Report) latencies() (bars []bar) {
	limits := map[[2]string]Judged{}
	for _, j := range r.Judged {
		limits[[2]string{j.Benchmark, j.Metric}] = j
	}
	for _, result := range r.Results {
		if !strings.HasPrefix(result.Benchmark, "ChangeTo") {
			continue
		}
		for _, percentile := range []string{"p50", "p95", "p99"} {
			metric := percentile + "-ms-from-record"
			limit := limits[[2]string{result.Benchmark, metric}]
			bars = append(bars, bar{
				label: result.Benchmark + " " + percentile, value: result.Metrics[metric], limit: limit.Limit, good: limit.Reached,
			})
		}
	}
	return bars
}

func (r Report) costs() []bar {
	return r.columns("CostOfRequest/", "platform-µs", "database-µs", "redis-µs")
}

func (r Report) footprints() []bar { return r.columns("Footprint/", "idle-MB", "loaded-MB") }

// columns gives the bars of some metrics of the benchmarks whose names begin so.
func (r Report) columns(begin string, metrics ...string) (bars []bar) {
	for _, result := range r.Results {
		of, found := strings.CutPrefix(result.Benchmark, begin)
		if !found {
			continue
		}
		for _, metric := range metrics {
			if value, measured := result.Metrics[metric]; measured {
				bars = append(bars, bar{label: of + " " + metric, value: value})
			}
		}
	}
	return bars
}
