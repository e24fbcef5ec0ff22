// Package sender sends pending deliveries until each is delivered, has failed or is dropped.
//
// Each tick has these steps, one file each:
//
//	sender.go     waits until something may be due
//	schedule.go   has the endpoints that may have due deliveries
//	health.go     remembers which of them answer
//	workers.go    says how many workers endpoints that are not healthy, and those of one tenant, may occupy
//	claim.go      leases due deliveries of these endpoints, as many as workers are free
//	dispatch.go   gives each to a worker, or releases it
//	endpoints.go  looks up where to send them
//	attempt.go    sends one
//	record.go     stores the result
//
// Most first attempts need no tick: the fan-out reserves workers, under the same limits, for deliveries that it is about to store
// leased to this sender, and dispatches them once that is committed (reserve.go).
//
// The schedule is only a hint: an endpoint in it that has nothing due costs one look, and a missing one waits for a search of the
// database (discover.go), which finds all the rest: retries, resent deliveries, those of endpoints that were paused and those of
// instances that crashed or have no free worker. It runs when the next of them is due, and every five seconds, but less often
// while it takes long, as under an old snapshot. What is due, and how many deliveries of other instances are in flight, is read
// from the database under the lock of the claim, which the fan-out takes too when it leases.
//
// A delivery is sent at least once: again after a crash between the POST and the storing of its result, or when its lease ends
// first. Two senders never send one delivery concurrently: an attempt ends before its lease, and a result is stored only under the
// lease of its attempt. Results are committed without waiting for the disk: deliveries whose results a crash of the database
// server loses are sent again when their leases end. Leases and due times use the database's clock; the sender's own only measures
// how much of a lease is left, from a moment before the lease began.
//
// At most PerEndpoint requests to one endpoint are in flight over all instances. The sender counts its own, and the claim those of
// the others by their leases.
//
// A receiver that does not answer occupies a worker until the timeout. So endpoints that are not healthy get half of the workers
// together, and one that does not answer gets one attempt at a time until it accepts an event. An endpoint is healthy once it has
// not occupied a worker for half a minute. All receivers of a tenant may stop answering at the same moment, so no tenant gets all
// workers either. Deliveries that wait for a worker are not claimed: they stay due, in order, and use no attempt. Health is only in
// memory: a sender that starts tries each endpoint once before it sends more.
//
// URL and secret are looked up for every batch, after it is claimed or before the fan-out stores it, and again if the lookup began
// more than a tenth of a second before. An event that the key may not see any more is dropped. While the tenants service does not
// answer, or the tenant's API access is off, deliveries wait and none is lost.
package sender
