// Package scale reckons, from what the benchmarks have measured, what a load asks of each part of a deployment and which
// part is the first that the way it is set up cannot give it. deploy/bench/scale.md explains the figures.
package scale

// Units are what one of something costs. Times are of a processor of the machine that was measured.
type Units struct {
	// Seconds of the platform's own processors. A change is one from the outbox to the feed and a receiver.
	PlaceOrder, ReadOrder, Poll, Change float64
	// Seconds of PostgreSQL's backends.
	PlaceOrderInDatabase, ReadOrderInDatabase, PollInDatabase, ChangeInDatabase float64
	// Seconds of Redis for a request.
	InRedis float64
	// RelayPerSecond is how many changes the one relay takes out of the outboxes.
	RelayPerSecond float64
	// Bytes of an order with its share of indexes, audit and messages, and of an event in the feed.
	OrderBytes, EventBytes float64
}

// Load is what is asked of the platform.
type Load struct {
	Name string
	// Tenants are equally busy but for the largest, which has LargestShare of everything.
	Tenants      float64
	LargestShare float64
	// Orders and the others are of a second, in the busy hour.
	Orders, Changes, Reads, Polls, Endpoints float64
	// BusyHours of a day are like the busy one, when it comes to what is kept.
	BusyHours float64
}

// Times gives a load so many times as large.
func (l Load) Times(name string, n float64) Load {
	l.Name = name
	for _, grows := range []*float64{&l.Tenants, &l.Orders, &l.Changes, &l.Reads, &l.Polls, &l.Endpoints} {
		*grows *= n
	}
	return l
}

// Carries is how many times the load a part can take.
func Carries(u Units, l Load, part int) float64 {
	const most = 1e9
	least, beyond := 0.0, most
	for range 200 {
		middle := (least + beyond) / 2
		if Needs(u, l.Times("", middle))[part].Share() > 1 {
			beyond = middle
		} else {
			least = middle
		}
	}
	return least
}

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
	// wise is the part of a processor, or of a queue's throughput, that can be used before waiting sets in.
	wise = 0.7
	// serverCores is a large PostgreSQL server, keptBytes what is comfortable in one.
	serverCores = 32
	keptBytes   = 4e12
	daysOfFeed  = 30
	daysOfYear  = 365
	secondsOf   = 3600
)

// Needs reckons what a load asks, of what stands once in a deployment.
func Needs(u Units, l Load) []Need {
	ordersOfDay := l.Orders * l.BusyHours * secondsOf
	changesOfDay := l.Changes * l.BusyHours * secondsOf
	ordersServer := l.Orders*u.PlaceOrderInDatabase + l.Reads*u.ReadOrderInDatabase
	eventsServer := l.Changes*u.ChangeInDatabase + l.Polls*u.PollInDatabase
	return []Need{
		{
			"the relay, of which one leads", "changes/s", l.Changes, wise * u.RelayPerSecond,
			"cells: tenants spread over several deployments, a relay each",
		},
		{
			"the partition of the largest tenant", "changes/s", l.Changes * l.LargestShare, wise * u.RelayPerSecond,
			"a cell of its own; within one tenant the order is the limit",
		},
		{
			"the server of orders", "cores", ordersServer, wise * serverCores,
			"orders spread by tenant",
		},
		{
			"the server of feed and deliveries", "cores", eventsServer, wise * serverCores,
			"a server for each of the two; then spread by tenant",
		},
		{
			"orders of three years", "TB", ordersOfDay * 3 * daysOfYear * u.OrderBytes / 1e12, keptBytes / 1e12,
			"orders spread by tenant",
		},
		{
			"the feed of thirty days", "TB", changesOfDay * daysOfFeed * u.EventBytes / 1e12, keptBytes / 1e12,
			"the feed on a server of its own; then spread by tenant",
		},
		{
			"Redis", "cores", (l.Orders + l.Reads + l.Polls) * u.InRedis, wise,
			"a Redis for each part of the keys",
		},
	}
}

// Instances reckons the processors of what scales out by itself: how many cores of programs.
func Instances(u Units, l Load) (cores float64) {
	return l.Orders*u.PlaceOrder + l.Reads*u.ReadOrder + l.Polls*u.Poll + l.Changes*u.Change
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
