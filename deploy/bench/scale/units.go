package scale

import (
	"errors"
	"fmt"

	"github.com/partnergifting/platform/deploy/bench/report"
)

// errNotMeasured is the answer to a report that lacks what is reckoned from.
var errNotMeasured = errors.New("was not measured")

// UnitsOf reads the costs from a report.
func UnitsOf(r report.Report) (Units, error) {
	var missing error
	value := func(benchmark, metric string, unit float64) float64 {
		for _, result := range r.Results {
			if found, measured := result.Metrics[metric]; measured && result.Benchmark == benchmark {
				return found * unit
			}
		}
		missing = errors.Join(missing, fmt.Errorf("%s of %s %w", metric, benchmark, errNotMeasured))
		return 0
	}
	const micro, ofThousand = 1e-6, 1e-3
	const request = "CostOfRequest/"
	const platform, database, idle = "platform-µs", "database-µs", request + "idle-second"
	const place, later, read, poll = request + "place-order", request + "post-message", request + "get-order", request + "poll-nothing-new"
	const page, changes, deliveries = request + "read-50-events", "BacklogOfChanges", "BacklogOfDeliveries"
	const cpu, ofDatabase = "cpu-s/1000", "-database"
	slow := fmt.Sprintf("ChangeToReceiver/endpoints=100/rate=%d", slowRate)
	u := Units{
		PlaceOrder: value(place, platform, micro), PlaceOrderInDatabase: value(place, database, micro),
		LaterChange: value(later, platform, micro), LaterChangeInDatabase: value(later, database, micro),
		ReadOrder: value(read, platform, micro), ReadOrderInDatabase: value(read, database, micro),
		Poll: value(poll, platform, micro), PollInDatabase: value(poll, database, micro),
		FullPoll: value(page, platform, micro), FullPollInDatabase: value(page, database, micro),
		Deliver:          value(deliveries, cpu+"-platform", ofThousand),
		ChangeInDatabase: value(changes, cpu+ofDatabase, ofThousand),
		Idle:             value(idle, platform, micro), IdleInDatabase: value(idle, database, micro),
		InRedis:        value(place, "redis-µs", micro),
		RelayPerSecond: value(changes, "relayed/s", 1),
		OrderBytes:     bytesOf(r, "GrowthOfOrders"), EventBytes: bytesOf(r, "GrowthOfFeed"),
	}
	inDatabase := slowRate * (value(slow, cpu+ofDatabase, ofThousand) - u.ChangeInDatabase)
	inAll := slowRate * (value(slow, cpu, ofThousand) - value(changes, cpu, ofThousand))
	u.SmallRoundsInDatabase = max(0, inDatabase-u.IdleInDatabase)
	u.SmallRounds = max(0, inAll-inDatabase-u.Idle)
	if u.OrderBytes == 0 || u.EventBytes == 0 {
		missing = errors.Join(missing, fmt.Errorf("growth %w", errNotMeasured))
	}
	u.EventBytes += usualData - measuredData
	return u, missing
}

// bytesOf is that of the largest size, which has the least of what is there without any row.
func bytesOf(r report.Report, benchmark string) (bytes float64) {
	for _, size := range []string{"100k", "1M", "10M"} {
		for _, result := range r.Results {
			if found, measured := result.Metrics["bytes-of-each-"+size]; measured && result.Benchmark == benchmark {
				bytes = found
			}
		}
	}
	return bytes
}
