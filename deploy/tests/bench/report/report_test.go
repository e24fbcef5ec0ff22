package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/report"
)

const output = `goos: linux
BenchmarkPlaceOrder/deployed
    place_order_test.go:47: gateway 1089/s of 1500 µs CPU
BenchmarkPlaceOrder/deployed-2   	1	1089 edge-orders/s-of-64  0.4500 edge/pgbench-of-64  120 B/op  3 allocs/op
BenchmarkChangeToFeed/rate=200
BenchmarkChangeToFeed/rate=200-2   	1	3.000 load	1.200 max-ms-late	15.10 p99-ms-from-due	14.30 p99-ms-from-record
BenchmarkHeldCalls-2  1  71.70 MB
BenchmarkGrowthOfFeed
    feed_test.go:25: 10k events: 15 MB
BenchmarkGrowthOfFeed  1  1.100 end-growth-1M  1.400 end-growth-10M  0.700 end-ms-10k  0.770 end-ms-1M  0.980 end-ms-10M
PASS
`

func parsed(t *testing.T) []report.Result {
	t.Helper()
	results, err := report.Parse(strings.NewReader(output))
	require.NoError(t, err)
	return results
}

func TestResultsAreReadByTheNameOfTheirBenchmark(t *testing.T) {
	t.Parallel()
	results := parsed(t)
	require.Len(t, results, 4)
	require.Equal(t, "PlaceOrder/deployed", results[0].Benchmark)
	require.Equal(t, map[string]float64{"edge-orders/s-of-64": 1089, "edge/pgbench-of-64": 0.45, "B/op": 120, "allocs/op": 3},
		results[0].Metrics)
	require.Equal(t, "ChangeToFeed/rate=200", results[1].Benchmark)
	require.InDelta(t, 14.3, results[1].Metrics["p99-ms-from-record"], 0)
	require.InDelta(t, 15.1, results[1].Metrics["p99-ms-from-due"], 0)
	require.Equal(t, "GrowthOfFeed", results[3].Benchmark)
}

func TestAnInvalidNumberIsAnError(t *testing.T) {
	t.Parallel()
	_, err := report.Parse(strings.NewReader("BenchmarkX-2 \t 1\t nonsense ms\n"))
	require.ErrorContains(t, err, "result of X")
}

func TestAResultIsComparedWithItsLimit(t *testing.T) {
	t.Parallel()
	reached := map[string]bool{}
	for _, o := range report.Compare(parsed(t), report.Goals()) {
		if o.Measured {
			reached[o.Benchmark+" "+o.Metric] = o.Reached
		}
	}
	require.Equal(t, map[string]bool{
		"PlaceOrder/deployed edge/pgbench-of-64":   false,
		"ChangeToFeed/rate=200 p99-ms-from-record": true,
		"HeldCalls MB":                true,
		"GrowthOfFeed end-growth-1M":  true,
		"GrowthOfFeed end-growth-10M": false,
	}, reached)
}

func TestAGoalWithoutAResultIsNotMeasuredAndNotReached(t *testing.T) {
	t.Parallel()
	outcomes := report.Compare(parsed(t), []report.Goal{
		{Benchmark: "PlaceOrder/deployed", Metric: "edge/grpc", What: "another metric", Limit: 0},
		{Benchmark: "ChangeToFeed/rate=50", Metric: "p99-ms-from-record", What: "another rate", Limit: 30},
		{Benchmark: "GrowthOfOrders", Metric: "*-growth-*", What: "all of them", Limit: 1.3},
	})
	require.Len(t, outcomes, 3)
	for _, o := range outcomes {
		require.False(t, o.Measured, o.What)
		require.False(t, o.Reached, o.What)
	}
}

func TestTheTableShowsEveryGoal(t *testing.T) {
	t.Parallel()
	made := report.Report{
		Machine: report.Machine{Kafka: "apache"}, Results: parsed(t), Outcomes: report.Compare(parsed(t), report.Goals()),
	}
	var table strings.Builder
	require.NoError(t, made.WriteTable(&table))
	for _, wanted := range []string{
		`(?m)^  orders placed, of pgbench, 64 clients each +PlaceOrder/deployed edge/pgbench-of-64 +0\.45 +≥ 0\.55 +MISSED$`,
		`(?m)^  slower than at the smallest size +GrowthOfFeed end-growth-10M +1\.40 +≤ 1\.30 +MISSED$`,
		`(?m)^  CPU s for 1000 changes of a backlog +BacklogOfChanges cpu-s/1000 +- +≤ 0\.40 +not measured$`,
		`(?m)^  change to feed, p99 ms +ChangeToFeed/rate=200 p99-ms-from-record +14\.3 +≤ 30\.0 +reached$`,
		`(?m)^  3 of \d+ reached$`,
		`Kafka apache, an embedded one in the process for …/one-process`,
	} {
		require.Regexp(t, wanted, table.String())
	}
}
