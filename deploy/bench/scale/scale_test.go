package scale_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/report"
	"github.com/partnergifting/platform/deploy/bench/scale"
	"github.com/partnergifting/platform/pkg/outbox"
)

func units() scale.Units {
	return scale.Units{
		PlaceOrder: 1e-3, ReadOrder: 3e-4, Poll: 2e-4, Change: 4e-4,
		PlaceOrderInDatabase: 6e-4, ReadOrderInDatabase: 7e-5, PollInDatabase: 5e-5, ChangeInDatabase: 2e-4, InRedis: 3e-5,
		RelayPerSecond: 5000, OrderBytes: 1200, EventBytes: 600,
	}
}

func load() scale.Load {
	return scale.Load{Name: "today", Tenants: 100, LargestShare: 0.2, Orders: 5, Changes: 20, Reads: 50, Polls: 20, Endpoints: 100, BusyHours: 8}
}

func TestWhatIsAskedGrowsWithTheLoad(t *testing.T) {
	small, large := scale.Needs(units(), load()), scale.Needs(units(), load().Times("100×", 100))
	for i := range small {
		require.Greater(t, large[i].Share(), small[i].Share(), small[i].Part)
	}
	require.InDelta(t, 100*scale.Instances(units(), load()), scale.Instances(units(), load().Times("100×", 100)), 1e-9)
}

func TestWhatBreaksFirstIsAskedForMost(t *testing.T) {
	needs := scale.Needs(units(), load().Times("1000×", 1000))
	first := scale.First(needs)
	require.Equal(t, "orders of three years", first.Part)
	for _, n := range needs {
		require.LessOrEqual(t, n.Share(), first.Share())
	}
}

func TestAPartCarriesTheLoadAtWhichItsShareIsWhole(t *testing.T) {
	for part, need := range scale.Needs(units(), load()) {
		times := scale.Carries(units(), load(), part)
		require.InDelta(t, 1, scale.Needs(units(), load().Times("", times))[part].Share(), 1e-6, need.Part)
	}
}

func TestTheUnitsAreThoseOfAReport(t *testing.T) {
	made := report.Report{Results: []report.Result{
		{Benchmark: "CostOfRequest/place-order", Metrics: map[string]float64{"platform-µs": 1000, "database-µs": 600, "redis-µs": 40}},
		{Benchmark: "CostOfRequest/get-order", Metrics: map[string]float64{"platform-µs": 300, "database-µs": 70}},
		{Benchmark: "CostOfRequest/poll-nothing-new", Metrics: map[string]float64{"platform-µs": 200, "database-µs": 50}},
		{Benchmark: "BacklogOfChanges", Metrics: map[string]float64{"relayed/s": 5000, "cpu-s/1000-platform": 0.4, "cpu-s/1000-database": 0.2}},
		{Benchmark: "GrowthOfOrders", Metrics: map[string]float64{"bytes-of-each-10k": 2900, "bytes-of-each-1M": 1200}},
		{Benchmark: "GrowthOfFeed", Metrics: map[string]float64{"bytes-of-each-10k": 1600, "bytes-of-each-1M": 600}},
	}}
	got, err := scale.UnitsOf(made)
	require.NoError(t, err)
	wanted := units()
	wanted.InRedis = 4e-5
	require.InEpsilonSlice(t, flat(wanted), flat(got), 1e-9)

	_, err = scale.UnitsOf(report.Report{Results: made.Results[1:]})
	require.ErrorContains(t, err, "place-order")
}

func flat(u scale.Units) []float64 {
	return []float64{
		u.PlaceOrder, u.ReadOrder, u.Poll, u.Change, u.PlaceOrderInDatabase, u.ReadOrderInDatabase, u.PollInDatabase,
		u.ChangeInDatabase, u.InRedis, u.RelayPerSecond, u.OrderBytes, u.EventBytes,
	}
}

func TestTheRelayKeepsUpBelowItsThroughputAndFallsBehindAboveIt(t *testing.T) {
	relay := scale.Relay{Pause: outbox.Gap, Round: 2 * time.Millisecond, PerChange: 100 * time.Microsecond, Most: 1000}
	p99 := func(perSecond float64, during time.Duration) time.Duration {
		return scale.At(relay.Ages(rand.New(rand.NewPCG(1, 2)), perSecond, during), .99)
	}
	require.Less(t, p99(200, 20*time.Second), 10*time.Millisecond)
	require.Less(t, p99(7000, 20*time.Second), 50*time.Millisecond)
	require.Greater(t, p99(12_000, 20*time.Second), 2*p99(12_000, 5*time.Second), "the longer, the older")
}

func TestEveryChangeIsSentOnceAndNoneBeforeItCame(t *testing.T) {
	relay := scale.Relay{Pause: outbox.Gap, Round: time.Millisecond, PerChange: time.Microsecond, Most: 10}
	ages := relay.Ages(rand.New(rand.NewPCG(3, 4)), 100, 10*time.Second)
	require.InDelta(t, 1000, len(ages), 150)
	require.GreaterOrEqual(t, ages[0], relay.Round)
}
