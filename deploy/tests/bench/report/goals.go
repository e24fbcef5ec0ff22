package report

import (
	"fmt"
	"path"
	"slices"
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

// matches compares a pattern without a star literally. A star matches no slash.
func matches(pattern, metric string) bool {
	matched, _ := path.Match(pattern, metric) // The patterns are well formed.
	return matched && strings.Contains(pattern, "*") || pattern == metric
}

func (o Outcome) limit() string {
	if o.Least {
		return "≥ " + number(o.Limit)
	}
	return "≤ " + number(o.Limit)
}

// Rates are the requests and changes per second at which a full run measures latencies.
func Rates() []int { return []int{20, 200, 500} }

// Goals are the limits of the platform.
func Goals() []Goal {
	const growth = 1.3
	return slices.Concat(requests(), changes(), []Goal{
		atLeast("BatchOfLinks", "copy/edge", "batches of links, of COPY", 0.4),
		atMost("Idle", "programs-cpu-%", "CPU of all programs without requests, % of a core", 1),
		atMost("Idle", "commits/s", "commits per second without requests", 5),
		atMost("Idle", "most-MB", "memory of the largest program without requests, MB", 40),
		atMost("Tracing", "sampled-cost", "CPU of tracing with the chart's sampling, of that without", 0.05),
		atMost("BesideLargeBodies", "gateway-MB", "memory of a gateway that gets large bodies", 512),
		atMost("BesideLargeBodies", "with/without", "p99 beside large bodies, of that without", 1.5),
		atMost("HeldCalls", "MB", "memory of 2,000 calls that wait, MB", 100),
		atMost("HeldCalls", "cpu-%", "CPU of 2,000 calls that wait, % of a core", 1),
		atMost("GrowthOfOrders", "*-growth-*", "slower than at the smallest size", growth),
		atMost("GrowthOfFeed", "*-growth-*", "slower than at the smallest size", growth),
	})
}

func atLeast(benchmark, metric, what string, limit float64) Goal {
	return Goal{Benchmark: benchmark, Metric: metric, What: what, Limit: limit, Least: true}
}

func atMost(benchmark, metric, what string, limit float64) Goal {
	return Goal{Benchmark: benchmark, Metric: metric, What: what, Limit: limit}
}

func requests() []Goal {
	return []Goal{
		atLeast("PlaceOrder/deployed", "edge/pgbench-of-64", "orders placed, of pgbench, 64 clients each", 0.6),
		atLeast("PlaceOrder/one-process", "edge/pgbench-of-16", "orders placed in one process, of pgbench, 16 clients each", 0.7),
		atLeast("PlaceOrder/one-process", "edge/pgbench-of-64", "orders placed in one process, of pgbench, 64 clients each", 0.7),
		atLeast("PlaceOrder/one-process", "edge/pipeline-of-16",
			"orders placed in one process, of pgbench in a pipeline, 16 clients each", 0.5),
		atLeast("PlaceOrder/one-process", "edge/pipeline-of-64",
			"orders placed in one process, of pgbench in a pipeline, 64 clients each", 0.5),
		atMost("GetOrder", "time-of-minimal", "time of an order read, of that through a minimal gateway", 1.15),
		atMost("PageOfEvents", "edge/sql-of-1", "time of a page of 50 events, of that of its SQL, 1 client each", 2),
		atMost("PageOfEvents", "edge/sql-of-16", "time of a page of 50 events, of that of its SQL, 16 clients each", 2),
	}
}

func changes() []Goal {
	goals := []Goal{
		atLeast("BacklogOfChanges", "ratio", "changes of a backlog delivered, of a bare loop", 0.13),
		atLeast("BacklogOfDeliveries", "ratio", "deliveries of a backlog, of a bare loop", 0.13),
		atMost("BesideManyDeadEndpoints", "with/without", "p99 beside many dead endpoints, of that alone", 1.5),
		atMost("BesideReplay", "with/without", "p99 beside a replay to a dead endpoint, of that without", 2),
		atMost("BesideBackup", "with/without", "p50 beside a backup, of that without", 2),
		atMost("RollOut/rate=20", "first/later", "p99 in the first minute of a roll-out at 20/s, of that later", 2),
		atMost("RollOut/rate=200", "first/later", "p99 in the first minute of a roll-out at 200/s, of that later", 2),
	}
	// The floor is what minimal programs with the same hops need.
	for _, at := range []struct {
		rate int
		cpu  float64
	}{{20, 1.5}, {200, 1.3}, {500, 1.2}} {
		accepted := fmt.Sprintf("AcceptedToReceiver/rate=%d", at.rate)
		fromOutbox := fmt.Sprintf("ChangeToReceiver/endpoints=100/rate=%d", at.rate)
		goals = append(goals,
			atMost(accepted, "p50-of-floor", "order accepted to receiver, p50 of the floor's", 1.5),
			atMost(accepted, "p99-of-floor", "order accepted to receiver, p99 of the floor's", 2),
			atMost(fromOutbox, "p50-of-floor", "change to receiver, p50 of the floor's", 1.5),
			atMost(fromOutbox, "p99-of-floor", "change to receiver, p99 of the floor's", 2),
			atMost(fromOutbox, "cpu-of-floor", "CPU of a change, all servers, of the floor's", at.cpu),
			atMost(fmt.Sprintf("ChangeToFeed/rate=%d", at.rate), "p99-ms-from-record", "change to feed, p99 ms", 30))
	}
	return goals
}
