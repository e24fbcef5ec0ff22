package report

import "fmt"

// Goal is a limit of one metric. Its benchmark is a single one, so that one which did not run is missed by name; the metric
// may hold the wild cards of path.Match.
type Goal struct {
	Benchmark, Metric string
	// What the number is, to a reader.
	What  string
	Limit float64
	// Least: the limit is the least that is good, else the most. Without a limit the number is only shown.
	Least bool
}

// Rates are how many changes a second a whole run makes to see how long they take.
func Rates() []int { return []int{20, 50, 200, 500} }

// Endpoints are how many receivers they then go to.
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
