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
	// Before is what was measured at the release Earlier, on two cores; 0 if it was not.
	Before float64 `json:"before,omitempty"`
}

// Earlier is the release with which results are compared.
const Earlier = "0.1.0"

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

func (o Outcome) before() string {
	if o.Before == 0 {
		return "-"
	}
	return number(o.Before)
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
		least("BatchOfLinks", "copy/edge", "batches of links, of COPY", 0.4, 0),
		most("Idle", "programs-cpu-%", "CPU of all programs without requests, % of a core", 1, 6),
		most("Idle", "commits/s", "commits per second without requests", 5, 160),
		most("Idle", "most-MB", "memory of the largest program without requests, MB", 40, 0),
		most("Tracing", "sampled-cost", "CPU of tracing with the chart's sampling, of that without", 0.05, 0),
		most("BesideLargeBodies", "gateway-MB", "memory of a gateway that gets large bodies", 512, 0),
		most("BesideLargeBodies", "with/without", "p99 beside large bodies, of that without", 1.5, 0),
		most("HeldCalls", "MB", "memory of 2,000 calls that wait, MB", 100, 0),
		most("HeldCalls", "cpu-%", "CPU of 2,000 calls that wait, % of a core", 1, 0),
		most("GrowthOfOrders", "*-growth-*", "slower than at the smallest size", growth, 0),
		most("GrowthOfFeed", "*-growth-*", "slower than at the smallest size", growth, 0),
	})
}

func least(benchmark, metric, what string, limit, before float64) Goal {
	return Goal{Benchmark: benchmark, Metric: metric, What: what, Limit: limit, Least: true, Before: before}
}

func most(benchmark, metric, what string, limit, before float64) Goal {
	return Goal{Benchmark: benchmark, Metric: metric, What: what, Limit: limit, Before: before}
}

func requests() []Goal {
	return []Goal{
		least("PlaceOrder/deployed", "edge/pgbench-of-64", "orders placed, of pgbench, 64 clients each", 0.55, 0.36),
		most("PlaceOrder/deployed", "cpu-ms-of-64", "CPU ms of an order placed, 64 clients", 0.9, 1.42),
		least("PlaceOrder/one-process", "edge/pgbench-of-16", "orders placed in one process, of pgbench, 16 clients each", 0.7, 0.53),
		least("PlaceOrder/one-process", "edge/pgbench-of-64", "orders placed in one process, of pgbench, 64 clients each", 0.7, 0.83),
		least("PlaceOrder/one-process", "edge/pipeline-of-16", "orders placed in one process, of pgbench in a pipeline, 16 clients each", 0.5, 0),
		least("PlaceOrder/one-process", "edge/pipeline-of-64", "orders placed in one process, of pgbench in a pipeline, 64 clients each", 0.5, 0),
		least("GetOrder", "edge-orders/s", "orders read per second", 8000, 5750),
		least("GetOrder", "edge/grpc", "orders read, of gRPC over the gateway's connection", 0.75, 0),
		most("PageOfEvents", "cpu-ms", "CPU ms of a page of 50 events", 0.6, 1.27),
		most("PageOfEvents", "edge/sql-of-1", "time of a page of 50 events, of that of its SQL, 1 client each", 2, 0),
		most("PageOfEvents", "edge/sql-of-16", "time of a page of 50 events, of that of its SQL, 16 clients each", 2, 0),
	}
}

// atRate are limits and earlier results at a rate.
type atRate struct {
	rate int
	// p50, p99 and cpu are limits: milliseconds from an order's record to the receiver, and processor time of a change.
	p50, p99, cpu float64
	// The same as measured before, and those of a change from the outbox.
	before, outbox [2]float64
	cpuBefore      float64
}

func changes() []Goal {
	goals := []Goal{
		least("BacklogOfChanges", "delivered/s", "changes of a backlog delivered per second", 4000, 2769),
		most("BacklogOfChanges", "cpu-s/1000", "CPU s for 1000 changes of a backlog", 0.4, 0.55),
		least("BacklogOfChanges", "ratio", "changes of a backlog delivered, of a bare loop", 0.13, 0),
		least("BacklogOfDeliveries", "ratio", "deliveries of a backlog, of a bare loop", 0.13, 0),
		most("BacklogOfDeliveries", "cpu-s/1000", "CPU s for 1000 deliveries of a backlog", 0.8, 0),
		most("BesideManyDeadEndpoints", "with/without", "p99 beside many dead endpoints, of that alone", 1.5, 0),
		most("BesideReplay", "with/without", "p99 beside a replay to a dead endpoint, of that without", 2, 0),
		most("BesideBackup", "with/without", "p50 beside a backup, of that without", 2, 0),
	}
	for _, at := range []atRate{
		{rate: 20, p50: 4, p99: 10, cpu: 8, before: [2]float64{8, 14}, outbox: [2]float64{8.8, 16}, cpuBefore: 23},
		{rate: 200, p50: 5, p99: 20, cpu: 2.5, before: [2]float64{16, 73}, outbox: [2]float64{7.1, 38}, cpuBefore: 8},
		{rate: 500, p50: 10, p99: 60, cpu: 1.5, before: [2]float64{57, 201}, outbox: [2]float64{29, 90}, cpuBefore: 3.3},
	} {
		accepted := fmt.Sprintf("AcceptedToReceiver/rate=%d", at.rate)
		fromOutbox := fmt.Sprintf("ChangeToReceiver/endpoints=100/rate=%d", at.rate)
		goals = append(goals,
			most(accepted, "p50-ms-from-record", "order accepted to receiver, p50 ms", at.p50, at.before[0]),
			most(accepted, "p99-ms-from-record", "order accepted to receiver, p99 ms", at.p99, at.before[1]),
			most(fromOutbox, "p50-ms-from-record", "change to receiver, p50 ms", 10, at.outbox[0]),
			most(fromOutbox, "p99-ms-from-record", "change to receiver, p99 ms", 40, at.outbox[1]),
			most(fromOutbox, "cpu-s/1000", "CPU s for 1000 changes, all servers", at.cpu, at.cpuBefore),
			most(fmt.Sprintf("ChangeToFeed/rate=%d", at.rate), "p99-ms-from-record", "change to feed, p99 ms", 30, 0))
	}
	return goals
}
