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
		PlaceOrder: 1e-3, LaterChange: 8e-4, ReadOrder: 3e-4, Poll: 2e-4, FullPoll: 7e-4, Deliver: 1e-4,
		PlaceOrderInDatabase: 6e-4, LaterChangeInDatabase: 5e-4, ReadOrderInDatabase: 7e-5, PollInDatabase: 5e-5,
		FullPollInDatabase: 1.9e-4, ChangeInDatabase: 2e-4, Idle: 0.1, IdleInDatabase: 0.01, SmallRounds: 0.64,
		SmallRoundsInDatabase: 0.35, InRedis: 3e-5, RelayPerSecond: 5000, OrderBytes: 1200, EventBytes: 1324,
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
}

func TestProgramsTakeTheIdleCostOfEveryCell(t *testing.T) {
	const two = 2 * 0.1
	require.InDelta(t, two, scale.Instances(units(), scale.Load{}), 1e-9)
	large := load().Times("100×", 100)
	cells := scale.Cells(units(), large)
	require.Greater(t, cells, 1.0)
	busier := units()
	busier.Idle *= 2
	require.InDelta(t, cells*two, scale.Instances(busier, large)-scale.Instances(units(), large), 1e-9)
}

func TestMoreCellsDoNotHelpOneTenant(t *testing.T) {
	one := load().Times("100×", 100)
	one.LargestShare, one.Orders = 1, one.Changes
	require.Equal(t, "the partition of the largest tenant", scale.First(scale.Needs(roomy(), one)).Part)
	require.InDelta(t, 1, scale.Cells(roomy(), one), 0)
}

// roomy has a disk and a relay that nobody fills.
func roomy() scale.Units {
	u := units()
	u.OrderBytes, u.RelayPerSecond = 0, 1e9
	return u
}

func TestALaterChangeCostsTheServerOfOrdersItsShareAndItsRows(t *testing.T) {
	more := load()
	more.Changes *= 2
	need := func(of scale.Load, part string) float64 {
		for _, n := range scale.Needs(units(), of) {
			if n.Part == part {
				return n.Asked
			}
		}
		require.Fail(t, "no such part", part)
		return 0
	}
	for _, part := range []string{"the server of orders", "orders of three years", "the delivery log of thirty days", "Redis"} {
		require.Greater(t, need(more, part), need(load(), part), part)
	}
	more.Changes = load().Orders
	placed := load().Orders*units().PlaceOrder + load().Reads*units().ReadOrder +
		(load().Polls-load().Orders)*units().Poll + load().Orders*units().FullPoll
	small := load().Orders / 200 * units().SmallRounds
	require.InDelta(t, placed+small+load().Orders*units().Deliver, scale.Instances(units(), more)-2*units().Idle, 1e-9,
		"an order has its way to the feed in its own cost")
}

func TestRowsAreKeptForTheirTime(t *testing.T) {
	const changesOfThirtyDays, ordersOfThreeYears = 3 * 3600 * 30, 3600 * 3 * 365
	kept := map[string]float64{}
	for _, n := range scale.Needs(units(), scale.Load{Orders: 1, Changes: 3, BusyHours: 1}) {
		kept[n.Part] = n.Asked * 1e12
	}
	require.InEpsilon(t, changesOfThirtyDays*1324.0, kept["the feed of thirty days"], 1e-9)
	require.InEpsilon(t, changesOfThirtyDays*2150.0, kept["the delivery log of thirty days"], 1e-9, "body, delivery, attempt")
	require.InEpsilon(t, ordersOfThreeYears*(1200+2*648.0), kept["orders of three years"], 1e-9, "two later changes")
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
		{Benchmark: "CostOfRequest/post-message", Metrics: map[string]float64{"platform-µs": 800, "database-µs": 500}},
		{Benchmark: "CostOfRequest/idle-second", Metrics: map[string]float64{"platform-µs": 100_000, "database-µs": 10_000}},
		{Benchmark: "CostOfRequest/get-order", Metrics: map[string]float64{"platform-µs": 300, "database-µs": 70}},
		{Benchmark: "CostOfRequest/read-50-events", Metrics: map[string]float64{"platform-µs": 700, "database-µs": 190}},
		{Benchmark: "CostOfRequest/poll-nothing-new", Metrics: map[string]float64{"platform-µs": 200, "database-µs": 50}},
		{Benchmark: "BacklogOfChanges", Metrics: map[string]float64{"relayed/s": 5000, "cpu-s/1000": 0.5, "cpu-s/1000-database": 0.2}},
		{Benchmark: "BacklogOfDeliveries", Metrics: map[string]float64{"cpu-s/1000-platform": 0.1}},
		{Benchmark: "ChangeToReceiver/endpoints=100/rate=200", Metrics: map[string]float64{"cpu-s/1000": 6, "cpu-s/1000-database": 2}},
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
		u.PlaceOrder, u.LaterChange, u.ReadOrder, u.Poll, u.FullPoll, u.Deliver, u.PlaceOrderInDatabase, u.LaterChangeInDatabase,
		u.ReadOrderInDatabase, u.PollInDatabase, u.FullPollInDatabase, u.ChangeInDatabase, u.Idle, u.IdleInDatabase, u.SmallRounds,
		u.SmallRoundsInDatabase, u.InRedis, u.RelayPerSecond, u.OrderBytes, u.EventBytes,
	}
}

func TestTheRelayKeepsUpBelowItsThroughputAndFallsBehindAboveIt(t *testing.T) {
	relay := scale.Relay{Pause: outbox.PollDelay, Round: 2 * time.Millisecond, PerChange: 100 * time.Microsecond, Most: 500}
	p99 := func(perSecond float64, during time.Duration) time.Duration {
		return scale.At(relay.Ages(rand.New(rand.NewPCG(1, 2)), perSecond, during), .99)
	}
	require.Less(t, p99(200, 20*time.Second), 10*time.Millisecond)
	require.Less(t, p99(7000, 20*time.Second), 50*time.Millisecond)
	require.Greater(t, p99(12_000, 20*time.Second), 2*p99(12_000, 5*time.Second), "the longer, the older")
}

func TestEveryChangeIsSentOnceAndNoneBeforeItCame(t *testing.T) {
	relay := scale.Relay{Pause: outbox.PollDelay, Round: time.Millisecond, PerChange: time.Microsecond, Most: 10}
	ages := relay.Ages(rand.New(rand.NewPCG(3, 4)), 100, 10*time.Second)
	require.InDelta(t, 1000, len(ages), 150)
	require.GreaterOrEqual(t, ages[0], relay.Round)
}
