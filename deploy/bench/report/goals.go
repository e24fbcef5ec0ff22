package report

import (
	"path"
	"strings"
)

// Goal is a limit of one metric. Both names may hold the wild cards of path.Match.
type Goal struct {
	Benchmark, Metric string
	// What the number is, to a reader.
	What  string
	Limit float64
	// Least: the limit is the least that is good, else the most. Without a limit the number is only shown.
	Least bool
}

// Goals are the limits of the platform.
func Goals() []Goal {
	const growth = 1.3
	least := func(benchmark, metric, what string, limit float64) Goal {
		return Goal{Benchmark: benchmark, Metric: metric, What: what, Limit: limit, Least: true}
	}
	most := func(benchmark, metric, what string, limit float64) Goal {
		return Goal{Benchmark: benchmark, Metric: metric, What: what, Limit: limit}
	}
	return []Goal{
		least("PlaceOrder", "edge/pgbench", "orders placed, of pgbench, each at its best", 0.5),
		least("PlaceOrder", "edge/pgbench-of-16", "the same, 16 clients each", 0.5),
		least("GetOrder", "edge/grpc", "orders read, of direct gRPC", 0.6),
		least("BatchOfLinks", "copy/edge", "batches of links, of COPY", 0.4),
		least("BacklogOfDeliveries", "ratio", "deliveries, of a bare loop", 0.13),
		most("BacklogOfDeliveries", "cpu-s/1000", "CPU s for 1000 deliveries", 0.8),
		least("BacklogOfChanges", "ratio", "changes delivered, of a bare loop", 0.13),
		most("BacklogOfChanges", "cpu-s/1000", "CPU s for 1000 changes delivered", 0.8),
		most("BesideBadEndpoints", "with/without", "p99 beside bad endpoints, of that without", 2),
		most("ChangeToFeed/*", "p99-ms-from-record", "change to feed, p99 ms", 30),
		most("ChangeToReceiver/*/*", "p50-ms-from-record", "change to receiver, p50 ms", 10),
		most("ChangeToReceiver/*/*", "p99-ms-from-record", "change to receiver, p99 ms", 40),
		most("GrowthOf*", "*-growth-*", "slower than at the smallest size", growth),
	}
}

// Judged is a goal with what was seen.
type Judged struct {
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	What      string  `json:"what"`
	Seen      float64 `json:"seen"`
	Limit     float64 `json:"limit"`
	Least     bool    `json:"least"`
	Reached   bool    `json:"reached"`
}

// Judge holds results against goals, in the order of the goals and then of the results.
func Judge(results []Result, goals []Goal) []Judged {
	var out []Judged
	for _, g := range goals {
		for _, r := range results {
			for _, metric := range r.names() {
				if !fits(g.Benchmark, r.Benchmark) || !fits(g.Metric, metric) {
					continue
				}
				seen := r.Metrics[metric]
				out = append(out, Judged{
					Benchmark: r.Benchmark, Metric: metric, What: g.What, Seen: seen, Limit: g.Limit, Least: g.Least,
					Reached: g.Least && seen >= g.Limit || !g.Least && seen <= g.Limit,
				})
			}
		}
	}
	return out
}

// fits compares with slashes as part of a metric's name and as separators of a benchmark's.
func fits(pattern, text string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == text
	}
	matched, _ := path.Match(pattern, text) // The patterns are well formed.
	return matched
}
