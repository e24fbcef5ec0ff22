package scale

import "math"

// Need is what a load asks of a part.
type Need struct {
	// Part, and the unit of what it gives.
	Part, Unit string
	// Asked is what the load takes, Given what one instance, server, relay or disk gives at the most that is wise.
	Asked, Given float64
	// Remedy is what gives more.
	Remedy string
}

// Share is how much of what is given is asked for; above 1 it is not enough.
func (n Need) Share() float64 { return n.Asked / n.Given }

const (
	// wise is the part of a processor that can be used before waiting sets in.
	wise = 0.7
	// prompt is the part of the relay's throughput at which the promise of the feed still has room for broker and feed.
	prompt = 0.5
	// provenPartition is the most changes a second of one tenant that were tried (ChangeToReceiver, one endpoint); they
	// kept the promise. Where a partition ends is not known, so no more is reckoned with.
	provenPartition = 500
	// serverCores is a large PostgreSQL server, keptBytes what is comfortable in one.
	serverCores = 32
	keptBytes   = 4e12
)

// Needs reckons what a load asks, of what stands once in a deployment. Each server is reckoned for itself and on the safe
// side: what a change costs the other one is in the measured figures and not taken out.
func Needs(u Units, l Load) []Need {
	ordersServer := l.Orders*u.PlaceOrderInDatabase + l.LaterChanges()*u.LaterChangeInDatabase + l.Reads*u.ReadOrderInDatabase
	eventsServer := l.Changes*u.ChangeInDatabase + l.Polls*u.PollInDatabase
	requests := l.Orders + l.LaterChanges() + l.Reads + l.Polls
	return []Need{
		{
			"the relay, of which one leads", "changes/s", l.Changes, prompt * u.RelayPerSecond,
			"cells: tenants spread over several deployments, a relay each",
		},
		{
			"the partition of the largest tenant", "changes/s", l.Changes * l.LargestShare, provenPartition,
			"a cell of its own; within one tenant the order is the limit",
		},
		{"the server of orders", "cores", ordersServer, wise * serverCores, "orders spread by tenant"},
		{
			"the server of feed and deliveries", "cores", eventsServer, wise * serverCores,
			"a server for each of the two; then spread by tenant",
		},
		{"orders of three years", "TB", ordersBytes(u, l) / 1e12, keptBytes / 1e12, "orders spread by tenant"},
		{
			"the feed of thirty days", "TB", feedBytes(u, l) / 1e12, keptBytes / 1e12,
			"the feed on a server of its own; then spread by tenant",
		},
		{
			"the log of webhooks of thirty days", "TB", logBytes(l) / 1e12, keptBytes / 1e12,
			"deliveries on a server of their own; then spread by tenant",
		},
		{"Redis", "cores", requests * u.InRedis, wise, "a Redis for each part of the keys"},
	}
}

// First gives the need with the largest share.
func First(needs []Need) Need {
	first := needs[0]
	for _, n := range needs {
		if n.Share() > first.Share() {
			first = n
		}
	}
	return first
}

// Cells is how many deployments carry a load, were all its tenants alike.
func Cells(u Units, l Load) float64 { return max(1, math.Ceil(First(Needs(u, l)).Share())) }

const (
	// replicas of each program are what the chart begins with.
	replicas = 2
	// slowRate is how many changes a second there were when SmallRounds was measured.
	slowRate = 200
)

// Instances reckons the processors of what scales out by itself: how many cores of programs, over all cells. What small
// rounds cost the server and the broker is in it too, as it was not measured apart.
func Instances(u Units, l Load) (cores float64) {
	cells := Cells(u, l)
	return cells*replicas*u.Idle + min(cells, l.Changes/slowRate)*u.SmallRounds +
		l.Orders*u.PlaceOrder + l.LaterChanges()*u.LaterChange + l.Reads*u.ReadOrder + l.Polls*u.Poll + l.Changes*u.Deliver
}
