// Package fanout turns the changes of the platform into deliveries: one for each key of the tenant
// that may see the change and has a webhook, except the key whose own request made it.
//
// The subscriptions are read after the changes have come in, so an endpoint that was set before a
// change is always among them. Batches that come at the same time share a look-up. A batch is stored
// in one transaction; a change that comes again has no effect. A message that is no change is stored
// as it is, logged and counted, and does not hold up those behind it.
package fanout
