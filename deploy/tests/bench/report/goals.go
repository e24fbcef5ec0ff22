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
		atLeast("PlaceOrder/deployed", "edge/pgbench-of-64", "orders placed, of pgbench, 64 clients each", 0.55),
		atMost("PlaceOrder/deployed", "cpu-ms-of-64", "CPU ms of an order placed, 64 clients", 0.9),
		atLeast("PlaceOrder/one-process", "edge/pgbench-of-16", "orders placed in one process, of pgbench, 16 clients each", 0.7),
		atLeast("PlaceOrder/one-process", "edge/pgbench-of-64", "orders placed in one process, of pgbench, 64 clients each", 0.7),
		atLeast("PlaceOrder/one-process", "edge/pipeline-of-16",
			"orders placed in one process, of pgbench in a pipeline, 16 clients each", 0.5),
		atLeast("PlaceOrder/one-process", "edge/pipeline-of-64",
			"orders placed in one process, of pgbench in a pipeline, 64 clients each", 0.5),
		atLeast("GetOrder", "edge-orders/s", "orders read per second", 8000),
		atLeast("GetOrder", "edge/grpc", "orders read, of gRPC over the gateway's connection", 0.75),
		atMost("PageOfEvents", "cpu-ms", "CPU ms of a page of 50 events", 0.6),
		atMost("PageOfEvents", "edge/sql-of-1", "time of a page of 50 events, of that of its SQL, 1 client each", 2),
		atMost("PageOfEvents", "edge/sql-of-16", "time of a page of 50 events, of that of its SQL, 16 clients each", 2),
	}
}

func changes() []Goal {
	goals := []Goal{
		atLeast("BacklogOfChanges", "delivered/s", "changes of a backlog delivered per second", 4000),
		atMost("BacklogOfChanges", "cpu-s/1000", "CPU s for 1000 changes of a backlog", 0.4),
		atLeast("BacklogOfChanges", "ratio", "changes of a backlog delivered, of a bare loop", 0.13),
		atLeast("BacklogOfDeliveries", "ratio", "deliveries of a backlog, of a bare loop", 0.13),
		atMost("BacklogOfDeliveries", "cpu-s/1000", "CPU s for 1000 deliveries of a backlog", 0.8),
		atMost("BesideManyDeadEndpoints", "with/without", "p99 beside many dead endpoints, of that alone", 1.5),
		atMost("BesideReplay", "with/without", "p99 beside a replay to a dead endpoint, of that without", 2),
		atMost("BesideBackup", "with/without", "p50 beside a backup, of that without", 2),
	}
	// The limits are milliseconds from an order's record to the receiver, and the processor time of a change.
	for _, at := range []struct {
		rate          int
		p50, p99, cpu float64
	}{{20, 4, 10, 8}, {200, 5, 20, 2.5}, {500, 10, 60, 1.5}} {
		accepted := fmt.Sprintf("AcceptedToReceiver/rate=%d", at.rate)
		fromOutbox := fmt.Sprintf("ChangeToReceiver/endpoints=100/rate=%d", at.rate)
		goals = append(goals,
			atMost(accepted, "p50-ms-from-record", "order accepted to receiver, p50 ms", at.p50),
			atMost(accepted, "p99-ms-from-record", "order accepted to receiver, p99 ms", at.p99),
			atMost(fromOutbox, "p50-ms-from-record", "change to receiver, p50 ms", 10),
			atMost(fromOutbox, "p99-ms-from-record", "change to receiver, p99 ms", 40),
			atMost(fromOutbox, "cpu-s/1000", "CPU s for 1000 changes, all servers", at.cpu),
			atMost(fmt.Sprintf("ChangeToFeed/rate=%d", at.rate), "p99-ms-from-record", "change to feed, p99 ms", 30))
	}
	return goals
}
