package report

import (
	"slices"
	"strings"
)

// plots are the pictures of a report, by file name. There is none without a measurement.
func (r Report) plots() map[string]string {
	out := map[string]string{}
	for file, p := range map[string]struct {
		title string
		bars  []bar
	}{
		"ratios.svg":    {"Ratios; the line is the limit", r.ratios()},
		"latency.svg":   {"From a change's record to its arrival, ms; the line is the limit", r.latencies()},
		"growth.svg":    {"Slower than at the smallest size, times; the line is the limit", r.growth()},
		"cost.svg":      {"Processor time of a request, µs", r.metrics("CostOfRequest/", "platform-µs", "database-µs", "redis-µs")},
		"footprint.svg": {"Memory of the programs, MB", r.metrics("Footprint/", "idle-MB", "loaded-MB")},
	} {
		if len(p.bars) > 0 {
			out[file] = plotBars(p.title, p.bars)
		}
	}
	return out
}

func (o Outcome) bar(label string) bar {
	return bar{label: label, value: o.Value, limit: o.Limit, good: o.Reached}
}

func (r Report) ratios() (bars []bar) {
	for _, o := range r.Outcomes {
		if o.Measured && o.Least {
			bars = append(bars, o.bar(o.place()+": "+o.What))
		}
	}
	return bars
}

func (r Report) growth() (bars []bar) {
	for _, o := range r.Outcomes {
		if operation, size, found := strings.Cut(o.Metric, growthAt); found && o.Measured {
			bars = append(bars, o.bar(operation+" at "+size))
		}
	}
	return bars
}

func (r Report) latencies() (bars []bar) {
	for _, result := range r.Results {
		if !strings.HasPrefix(result.Benchmark, "ChangeTo") {
			continue
		}
		for _, percentile := range []string{"p50", "p95", "p99"} {
			metric := percentile + "-ms-from-record"
			o := Outcome{Value: result.Metrics[metric]}
			if i := slices.IndexFunc(r.Outcomes, func(o Outcome) bool { return o.Benchmark == result.Benchmark && o.Metric == metric }); i >= 0 {
				o = r.Outcomes[i]
			}
			bars = append(bars, o.bar(result.Benchmark+" "+percentile))
		}
	}
	return bars
}

// metrics returns bars of some metrics of the benchmarks with a prefix.
func (r Report) metrics(prefix string, metrics ...string) (bars []bar) {
	for _, result := range r.Results {
		name, found := strings.CutPrefix(result.Benchmark, prefix)
		if !found {
			continue
		}
		for _, metric := range metrics {
			if value, measured := result.Metrics[metric]; measured {
				bars = append(bars, bar{label: name + " " + metric, value: value})
			}
		}
	}
	return bars
}
