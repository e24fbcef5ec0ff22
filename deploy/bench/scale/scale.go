// Package scale reckons, from what the benchmarks have measured, what a load asks of each part of a deployment and which
// part is the first that the way it is set up cannot give it. deploy/bench/scale.md explains the figures.
package scale

// Units are what one of something costs. Times are of a processor of the machine that was measured.
type Units struct {
	// Seconds of the platform's own processors. An order placed and a later change of one have the way to the feed in them,
	// so that only the delivery of each change comes on top.
	PlaceOrder, LaterChange, ReadOrder, Poll, FullPoll, Deliver float64
	// Seconds of PostgreSQL's backends. A change is one from the outbox to the feed and a receiver: what the servers behind
	// the topic do for it, whoever made it.
	PlaceOrderInDatabase, LaterChangeInDatabase, ReadOrderInDatabase, PollInDatabase, FullPollInDatabase, ChangeInDatabase float64
	// Idle is the cores that one of each program takes when nobody asks for anything, and their backends beside them.
	Idle, IdleInDatabase float64
	// SmallRounds is the cores that programs and broker of a deployment take beyond all this when its changes are slowRate a
	// second: a round of the relay then carries few, so that each costs more than in a backlog. The backends' are apart.
	SmallRounds, SmallRoundsInDatabase float64
	// Seconds of Redis for a request.
	InRedis float64
	// RelayPerSecond is how many changes the one relay takes out of the outboxes.
	RelayPerSecond float64
	// Bytes of an order as placed, with its indexes, and of an event in the feed, as they are usual.
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

// LaterChanges are those that do not place an order.
func (l Load) LaterChanges() float64 { return l.Changes - l.Orders }

// Each change is taken to be found by a poll of its own, as far as there are so many.
func (l Load) fullPolls() float64  { return min(l.Polls, l.Changes) }
func (l Load) emptyPolls() float64 { return l.Polls - l.fullPolls() }

// slowRate is how many changes a second there were when SmallRounds was measured.
const slowRate = 200

// smallRounds is how much of SmallRounds a deployment has: with more changes the rounds get fuller instead.
func (l Load) smallRounds() float64 { return min(1, l.Changes/slowRate) }

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
