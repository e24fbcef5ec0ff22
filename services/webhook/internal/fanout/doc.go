// Package fanout turns changes into deliveries: one for each key of the tenant that may see the change and
// has a webhook, except the key whose own request made it. Deliveries for which the sender has workers are stored as leased to it
// and sent as soon as they are committed.
//
// The subscriptions are looked up after the changes have arrived, so an endpoint that was set before a change is always included.
// Concurrent batches share a lookup. A tenant whose published version has not changed since its last one needs none during the
// lease of package tenants: the version is read after the changes have arrived too. A batch is stored in one transaction, and
// storing a change twice has no effect. A message that is not a valid change is stored in another table, logged and counted; it
// does not delay later messages.
package fanout
