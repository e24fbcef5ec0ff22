// Package reconcile compares the orders with what catalog holds, the feed has and links have claimed, and repairs differences. They
// arise when one of the databases is set back: restored from a backup, or failed over to a standby that was behind.
//
// It asks catalog for the reservations that hold stock, personal-links for the claimed links and events for the events of the
// feed, page by page and at a bounded rate. Both sides of a comparison are sorted by the same key, so it merges them and needs
// little memory. Of the feed it remembers the newest event of each order of one tenant.
//
// Messages and their events are not compared: a message changes neither the version of its order nor the time of its last change.
// So a lost message or a lost event of one is no difference.
//
// # Safe while the platform runs
//
// A page is old when it has been compared with another. So what differs is read again, and counts only if it still differs:
// first the orders, then the other service, then the orders again, which must not have changed in between. What the platform
// itself still finishes is no difference: a reservation for an order about to be placed, a claim in flight, a release that the
// reconciler of package reservations reports, an event in the outbox or one that the feed may yet read from Kafka.
//
// # Repairs
//
// A difference is repaired if there is only one right outcome; a person decides about the others. Each repair checks again, in
// its own transaction, that it is still needed. So a repair may be repeated and interrupted at any point. Its log line has ids
// only. Everything is compared once before the first repair: if much differs, a database may be empty or the wrong one, and
// nothing is repaired.
package reconcile
