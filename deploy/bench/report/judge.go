package report

import (
	"path"
	"strings"
)

// Judged is a goal with what was seen. One that was not measured has its goal's metric, wild cards included, and is not
// reached: nobody knows.
type Judged struct {
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	What      string  `json:"what"`
	Measured  bool    `json:"measured"`
	Seen      float64 `json:"seen"`
	Limit     float64 `json:"limit"`
	Least     bool    `json:"least"`
	Reached   bool    `json:"reached"`
}

// Judge holds results against goals, in the order of the goals and then of the results.
func Judge(results []Result, goals []Goal) []Judged {
	var out []Judged
	for _, g := range goals {
		judged := g.judge(results)
		if len(judged) == 0 {
			judged = []Judged{{Benchmark: g.Benchmark, Metric: g.Metric, What: g.What, Limit: g.Limit, Least: g.Least}}
		}
		out = append(out, judged...)
	}
	return out
}

func (g Goal) judge(results []Result) (out []Judged) {
	for _, r := range results {
		for _, metric := range r.names() {
			if r.Benchmark != g.Benchmark || !fits(g.Metric, metric) {
				continue
			}
			seen := r.Metrics[metric]
			out = append(out, Judged{
				Benchmark: r.Benchmark, Metric: metric, What: g.What, Measured: true, Seen: seen, Limit: g.Limit, Least: g.Least,
				Reached: g.Least && seen >= g.Limit || !g.Least && seen <= g.Limit,
			})
		}
	}
	return out
}

// fits compares with slashes as part of a metric's name where there are no wild cards.
func fits(pattern, text string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == text
	}
	matched, _ := path.Match(pattern, text) // The patterns are well formed.
	return matched
}
