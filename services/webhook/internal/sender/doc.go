// Package sender sends pending deliveries until each is delivered, has failed or is dropped.
//
// One tick of a sender, a file per step:
//
//	sender.go     waits until something may be due
//	schedule.go   holds the endpoints that may have due deliveries
//	health.go     remembers which of them answer
//	slots.go      says how many workers those that do not answer may hold, and those of one tenant
//	claim.go      leases due deliveries of these endpoints, as many as workers are free
//	endpoints.go  looks up where to send them
//	dispatch.go   gives each to a worker, or releases it
//	attempt.go    sends one
//	record.go     stores the result
//
// Most first attempts need no tick. The fan-out reserves workers for the deliveries that it is about to store (reserve.go), stores
// them leased to this sender, and dispatches them once that is committed, with the endpoints that it has looked up for the batch.
// It gets workers under the same limits as a claim, and leaves alone endpoints for which something waits or whose receivers may
// hold the workers. If the process dies, such a row is due again when its lease ends, like any other.
//
// An endpoint gets into the schedule when the fan-out of this process stores other deliveries to it, when a claim leaves some for
// which there is no slot, and by a search of the database (discover.go). The search finds everything else: retries, resent
// deliveries, those of endpoints that were paused, and those of instances that crashed or have no free worker. It runs
// when the next of them is due, and every five seconds. If it takes long, as while an old snapshot of the database is open, it runs less often, but half a minute after the last.
// So a first attempt never waits for a search, and everything else waits for at most one. An instance with a free worker finds within
// five seconds what another has no worker for.
//
// The schedule is only a hint: an endpoint in it that has nothing due costs one look, and a missing one waits for a search. What
// is due, and how many deliveries of other instances are in flight, is read from the database under the lock of the claim, which
// the fan-out takes too when it leases.
//
// A delivery is sent at least once: it is sent again after a crash between the POST and the storing of its result, or when its
// lease ends first. Two senders never send one delivery concurrently: an attempt ends before its lease, and a result is stored
// only under the lease of its attempt. Results are committed without waiting for the disk: a crash of the database server may lose
// the last ones, and their deliveries are sent again when their leases end.
//
// Leases and due times use the database's clock. The sender's own clock only measures how much of a lease is left, from a
// moment before the lease began.
//
// At most PerEndpoint requests to one endpoint are in flight over all instances. The sender counts its own, and the claim those
// of the others by their leases. Deliveries that a crashed sender had leased count until their leases end. After a restart a
// sender has a new id and no deliveries.
//
// A receiver that does not answer holds a worker until the timeout. So that many of them delay no other, slow, dead and unknown
// endpoints get only a part of the workers, and a dead one gets one attempt at a time until it accepts an event. Then it has its
// full share again, and it is healthy once it has not held a worker for half a minute. All receivers of a tenant may stop
// answering at the same moment, before anyone knows, so no tenant gets all workers either. Deliveries are not claimed while they
// wait for a worker: they stay due, in order, and no attempt is used. Health is only in memory. A sender that starts knows none:
// it tries each endpoint once before it sends more.
//
// URL and secret are looked up for every batch, while it is claimed or before the fan-out stores it. Those of
// a lookup that began a tenth of a second before are looked up again. An event that the key may not see any more is dropped. While
// the tenants service does not answer, or the tenant's API access is off, deliveries wait and none is lost.
package sender
