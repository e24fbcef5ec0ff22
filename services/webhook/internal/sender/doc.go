// Package sender sends pending deliveries until each is delivered, has failed or is dropped.
//
// One tick of a sender, a file per step:
//
//	sender.go     waits until something may be due
//	claim.go      leases due deliveries, as many as workers are free, and collects the keys that the fan-out reports
//	endpoints.go  looks up where to send them
//	dispatch.go   gives each to a worker, or releases it
//	attempt.go    sends one
//	record.go     stores the result
//
// A delivery is sent at least once: it is sent again after a crash between the POST and the storing of its result, or when its
// lease ends first. Two senders never send one delivery concurrently: an attempt ends before its lease, and a result is stored
// only under the lease of its attempt.
//
// Leases and due times use the database's clock. The sender's own clock only measures how much of a lease is left, from a
// moment before the lease began.
//
// At most PerEndpoint requests to one endpoint are in flight over all instances, so an endpoint that is
// slow or dead does not delay others.
//
// URL and secret are looked up for every batch, while it is claimed or after. While the tenants service
// does not answer, or the tenant's API access is off, deliveries wait and none is lost.
package sender
