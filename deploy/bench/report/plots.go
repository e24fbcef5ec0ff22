package report

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
)

// plots returns the plots of a report by file name. A plot without a measurement is left out.
func (r Report) plots() map[string]string {
	out := map[string]string{}
	for file, p := range map[string]struct {
		title string
		bars  []bar
	}{
		"ratios.svg":    {"Ratios; the line is the limit", r.ratios()},
		"latency.svg":   {"From a change's record to its arrival, ms; the line is the limit", r.latencies()},
		"growth.svg":    {"Slower than at the smallest size, times; the line is the limit", r.growth()},
		"cost.svg":      {"Processor time of a request, µs", r.metrics("CostOfRequest/", "µs")},
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
		if !strings.HasPrefix(result.Benchmark, "ChangeTo") && !strings.HasPrefix(result.Benchmark, "AcceptedTo") {
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

// bar is a value with its label, and with a limit unless that is 0.
type bar struct {
	label        string
	value, limit float64
	good         bool
}

// Sizes in pixels.
const (
	rowHeight = 22
	labels    = 380
	longest   = 420
	figures   = 130
	header    = 40
)

const (
	good  = "#2f7d4f"
	bad   = "#b3372f"
	plain = "#3b6ea5"
	ink   = "#222"
)

// plotBars draws horizontal bars, on a logarithmic scale when the values differ by more than a hundred times.
func plotBars(title string, bars []bar) string {
	var svg strings.Builder
	height := header + rowHeight*len(bars) + rowHeight/2
	scale, logarithmic := scaleOf(bars)
	if logarithmic {
		title += " (logarithmic)"
	}
	begin(&svg, title, labels+longest+figures, height)
	for i, b := range bars {
		top := header + i*rowHeight
		color := plain
		if b.limit != 0 {
			color = bad
			if b.good {
				color = good
			}
		}
		text(&svg, labels-8, top+15, "end", b.label)
		fmt.Fprintf(&svg, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, labels, top+4, scale(b.value), rowHeight-8, color)
		if b.limit != 0 {
			at := labels + scale(b.limit)
			fmt.Fprintf(&svg, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" stroke-width="2"/>`, at, top+1, at, top+rowHeight-1, ink)
		}
		text(&svg, labels+int(max(scale(b.value), scale(b.limit)))+8, top+15, "start", number(b.value))
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

// scaleOf returns a function for the length of a value.
func scaleOf(bars []bar) (scale func(float64) float64, logarithmic bool) {
	least, most := math.Inf(1), 0.0
	for _, b := range bars {
		most = max(most, b.value, b.limit)
		if b.value > 0 {
			least = min(least, b.value)
		}
	}
	const manyTimes = 100
	if most > manyTimes*least {
		decades := math.Log10(most/least) + 1
		return func(v float64) float64 {
			if v <= 0 {
				return 0
			}
			return max(0, math.Log10(v/least)+1) / decades * longest
		}, true
	}
	if most == 0 {
		most = 1
	}
	return func(v float64) float64 { return v / most * longest }, false
}

func begin(svg *strings.Builder, title string, width, height int) {
	fmt.Fprintf(svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`,
		width, height, width, height)
	fmt.Fprintf(svg, `<rect width="%d" height="%d" fill="#fff"/>`, width, height)
	fmt.Fprintf(svg, `<text x="12" y="24" font-size="15" fill="%s">%s</text>`, ink, escape(title))
}

func text(svg *strings.Builder, x, y int, anchor, words string) {
	fmt.Fprintf(svg, `<text x="%d" y="%d" text-anchor="%s" fill="%s">%s</text>`, x, y, anchor, ink, escape(words))
}

func escape(words string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(words)) // Writing to a builder does not fail.
	return out.String()
}
