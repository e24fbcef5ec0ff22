package scale

import (
	"math"
	"slices"
)

// Need is what a load asks of a part.
type Need struct {
	// Part, and the unit of what it gives.
	Part, Unit string
	// Asked is what the load takes, Given what one instance, server, relay or disk gives at the most that is sensible.
	Asked, Given float64
	// Remedy is what gives more.
	Remedy string
	// OfOneTenant is asked for by one tenant, so that spreading tenants does not help.
	OfOneTenant bool
}

// Share is how much of what is given is asked for; above 1 it is not enough.
func (n Need) Share() float64 { return n.Asked / n.Given }

const (
	// usable is the part of a processor that can be used before waiting sets in.
	usable = 0.7
	// usableOfRelay is the part of its throughput at which the promise of the feed still has room for broker and feed.
	usableOfRelay = 0.5
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
	always := u.IdleInDatabase + l.smallRounds()*u.SmallRoundsInDatabase
	ordersServer := always + l.Orders*u.PlaceOrderInDatabase + l.LaterChanges()*u.LaterChangeInDatabase + l.Reads*u.ReadOrderInDatabase
	eventsServer := always + l.Changes*u.ChangeInDatabase + l.emptyPolls()*u.PollInDatabase + l.fullPolls()*u.FullPollInDatabase
	requests := l.Orders + l.LaterChanges() + l.Reads + l.Polls
	return []Need{
		{
			Part: "the relay, of which one leads", Unit: "changes/s", Asked: l.Changes, Given: usableOfRelay * u.RelayPerSecond,
			Remedy: "cells: tenants spread over several deployments, a relay each",
		},
		{
			Part: "the partition of the largest tenant", Unit: "changes/s", Asked: l.Changes * l.LargestShare, Given: provenPartition,
			Remedy: "a cell of its own; within one tenant the order is the limit", OfOneTenant: true,
		},
		{
			Part: "the server of orders", Unit: "cores", Asked: ordersServer, Given: usable * serverCores,
			Remedy: "orders spread by tenant",
		},
		{
			Part: "the server of feed and deliveries", Unit: "cores", Asked: eventsServer, Given: usable * serverCores,
			Remedy: "a server for each of the two; then spread by tenant",
		},
		{
			Part: "orders of three years", Unit: "TB", Asked: ordersBytes(u, l) / 1e12, Given: keptBytes / 1e12,
			Remedy: "orders spread by tenant",
		},
		{
			Part: "the feed of thirty days", Unit: "TB", Asked: feedBytes(u, l) / 1e12, Given: keptBytes / 1e12,
			Remedy: "the feed on a server of its own; then spread by tenant",
		},
		{
			Part: "the delivery log of thirty days", Unit: "TB", Asked: logBytes(l) / 1e12, Given: keptBytes / 1e12,
			Remedy: "deliveries on a server of their own; then spread by tenant",
		},
		{
			Part: "Redis", Unit: "cores", Asked: requests * u.InRedis, Given: usable,
			Remedy: "a Redis for each part of the keys",
		},
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

// Cells is how many deployments carry a load whose tenants can be spread, so without what one of them asks for by itself.
func Cells(u Units, l Load) float64 {
	spread := slices.DeleteFunc(Needs(u, l), func(n Need) bool { return n.OfOneTenant })
	return max(1, math.Ceil(First(spread).Share()))
}

// replicas of each program are what the chart begins with.
const replicas = 2

// Instances reckons the processors of what scales out by itself: how many cores of programs, over all cells. What small
// rounds cost the broker is in it too.
func Instances(u Units, l Load) (cores float64) {
	cells := Cells(u, l)
	return cells*replicas*u.Idle + min(cells, l.Changes/slowRate)*u.SmallRounds +
		l.Orders*u.PlaceOrder + l.LaterChanges()*u.LaterChange + l.Reads*u.ReadOrder +
		l.emptyPolls()*u.Poll + l.fullPolls()*u.FullPoll + l.Changes*u.Deliver
}
