package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/report"
)

// A result that were not read, or read for another benchmark, would only make a goal "not measured".
func TestEveryGoalIsInTheTableWithItsResult(t *testing.T) {
	t.Parallel()
	results, err := report.Parse(strings.NewReader(`goos: linux
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
`))
	require.NoError(t, err)
	require.Len(t, results, 4)
	made := report.Report{
		Machine: report.Machine{Kafka: "apache"}, Results: results, Outcomes: report.Compare(results, report.Goals()),
	}
	var table strings.Builder
	require.NoError(t, made.WriteTable(&table))
	for _, wanted := range []string{
		`(?m)^  orders placed, of pgbench, 64 clients each +PlaceOrder/deployed edge/pgbench-of-64 +0\.45 +≥ 0\.60 +MISSED$`,
		`(?m)^  slower than at the smallest size +GrowthOfFeed end-growth-1M +1\.10 +≤ 1\.30 +reached$`,
		`(?m)^  slower than at the smallest size +GrowthOfFeed end-growth-10M +1\.40 +≤ 1\.30 +MISSED$`,
		`(?m)^  slower than at the smallest size +GrowthOfOrders \*-growth-\* +- +≤ 1\.30 +not measured$`,
		`(?m)^  memory of 2,000 calls that wait, MB +HeldCalls MB +71\.7 +≤ 100 +reached$`,
		`(?m)^  change to feed, p99 ms +ChangeToFeed/rate=200 p99-ms-from-record +14\.3 +≤ 30\.0 +reached$`,
		`(?m)^  3 of \d+ reached$`,
		`Kafka apache, an embedded one in the process for …/one-process`,
	} {
		require.Regexp(t, wanted, table.String())
	}
	_, err = report.Parse(strings.NewReader("BenchmarkX-2 \t 1\t nonsense ms\n"))
	require.ErrorContains(t, err, "result of X")
}
