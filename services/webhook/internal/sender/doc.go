// Package sender sends pending deliveries until each is delivered, has failed or is dropped.
//
// A delivery is sent at least once: a crash between the POST and the record of its outcome, or a
// lease that ends first, sends it again. Never do two senders send one delivery at the same time,
// because an attempt ends before its lease does, and a result is recorded only under the lease it
// was made with. Leases and due times are by the database's clock; a sender's own only measures how
// much of a lease is left, from a moment before the lease began. At most PerEndpoint deliveries of
// one endpoint are under way at once over all instances, so an endpoint that is slow or dead delays
// no other.
//
// Where to send and the secret are read anew for every batch, while it is claimed or after. While the
// tenants service cannot say, or the tenant's API access is off, deliveries wait and lose nothing.
package sender
