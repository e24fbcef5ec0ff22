package report

import (
	"fmt"
	"path"
	"strings"
)

// Goal is a limit of one metric. It names a single benchmark, so that one which did not run is reported; the metric may hold
// the wild cards of path.Match.
type Goal struct {
	Benchmark string `json:"benchmark"`
	Metric    string `json:"metric"`
	// What describes the metric to a reader.
	What  string  `json:"what"`
	Limit float64 `json:"limit"`
	// Least means that the limit is a minimum, not a maximum.
	Least bool `json:"least"`
}

// Outcome is a goal with its result. One without a measurement has the goal's metric, wild cards included, and is not reached.
type Outcome struct {
	Goal

	Measured bool    `json:"measured"`
	Value    float64 `json:"value"`
	Reached  bool    `json:"reached"`
}

// Compare compares results with goals, in the order of the goals and then of the results.
func Compare(results []Result, goals []Goal) (all []Outcome) {
	for _, g := range goals {
		found := false
		for _, r := range results {
			for _, metric := range r.names() {
				if r.Benchmark != g.Benchmark || !matches(g.Metric, metric) {
					continue
				}
				o := Outcome{Goal: g, Measured: true, Value: r.Metrics[metric]}
				o.Metric, o.Reached = metric, o.Value == g.Limit || (o.Value > g.Limit) == g.Least
				all, found = append(all, o), true
			}
		}
		if !found {
			all = append(all, Outcome{Goal: g})
		}
	}
	return all
}

// matches takes a slash for a part of the name where the pattern has no wild cards.
func matches(pattern, metric string) bool {
	matched, _ := path.Match(pattern, metric) // The patterns are well formed.
	return matched && strings.Contains(pattern, "*") || pattern == metric
}

// place is the benchmark and metric of the outcome.
func (o Outcome) place() string {
	if !strings.Contains(o.Metric, "*") && (strings.Contains(o.Benchmark, "/") || strings.Contains(o.Metric, growthAt)) {
		return o.Benchmark + " " + strings.Replace(o.Metric, growthAt, " at ", 1)
	}
	return o.Benchmark
}

func (o Outcome) limit() string {
	if o.Least {
		return "≥ " + number(o.Limit)
	}
	return "≤ " + number(o.Limit)
}

// Rates are the changes per second at which a full run measures latencies.
func Rates() []int { return []int{20, 50, 200, 500} }

// Endpoints are the numbers of receivers that these changes go to.
func Endpoints() []int { return []int{1, 100} }

// Goals are the limits of the platform.
func Goals() []Goal {
	const growth = 1.3
	least := func(benchmark, metric, what string, limit float64) Goal {
		return Goal{Benchmark: benchmark, Metric: metric, What: what, Limit: limit, Least: true}
	}
	most := func(benchmark, metric, what string, limit float64) Goal {
		return Goal{Benchmark: benchmark, Metric: metric, What: what, Limit: limit}
	}
	goals := []Goal{
		least("PlaceOrder", "edge/pgbench", "orders placed, of pgbench, each at its best", 0.5),
		least("PlaceOrder", "edge/pgbench-of-16", "orders placed, of pgbench, 16 clients each", 0.5),
		least("GetOrder", "edge/grpc", "orders read, of direct gRPC", 0.6),
		least("BatchOfLinks", "copy/edge", "batches of links, of COPY", 0.4),
		least("BacklogOfDeliveries", "ratio", "deliveries, of a bare loop", 0.13),
		most("BacklogOfDeliveries", "cpu-s/1000", "CPU s for 1000 deliveries", 0.8),
		least("BacklogOfChanges", "ratio", "changes delivered, of a bare loop", 0.13),
		most("BacklogOfChanges", "cpu-s/1000", "CPU s for 1000 changes delivered", 0.8),
		most("BesideBadEndpoints", "with/without", "p99 beside bad endpoints, of that without", 2),
		most("BesideManyDeadEndpoints", "with/without", "p99 beside many dead endpoints, of that alone", 1.5),
		most("BesideBackup", "with/without", "p50 beside a backup, of that without", 2),
		most("Tracing", "sampled-cost", "CPU of tracing with the chart's sampling, of that without", 0.05),
		most("EventSealing", "sealed-cost", "CPU of sealing events, of that without", 0.03),
		most("BesideLargeBodies", "gateway-MB", "memory of a gateway that gets large bodies", 512),
		most("BesideLargeBodies", "with/without", "p99 beside large bodies, of that without", 1.5),
		most("HeldCalls", "MB", "memory of 10,000 calls that wait, MB", 100),
		most("HeldCalls", "cpu-%", "CPU of 10,000 calls that wait, % of a core", 1),
		most("GrowthOfOrders", "*-growth-*", "slower than at the smallest size", growth),
		most("GrowthOfFeed", "*-growth-*", "slower than at the smallest size", growth),
	}
	for _, rate := range Rates() {
		goals = append(goals, most(fmt.Sprintf("ChangeToFeed/rate=%d", rate), "p99-ms-from-record", "change to feed, p99 ms", 30))
		for _, endpoints := range Endpoints() {
			benchmark := fmt.Sprintf("ChangeToReceiver/endpoints=%d/rate=%d", endpoints, rate)
			goals = append(goals,
				most(benchmark, "p50-ms-from-record", "change to receiver, p50 ms", 10),
				most(benchmark, "p99-ms-from-record", "change to receiver, p99 ms", 40))
		}
	}
	return goals
}
