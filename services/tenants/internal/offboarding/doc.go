// Package offboarding erases tenants whose grace period is over, and proves it.
//
// A tenant is disabled when the off-boarding is requested: its keys are refused, and no order is placed and no link claimed. The
// erasure begins when the grace period is over by the retention clock and nothing of the tenant is in flight anywhere: orders, claims,
// changes that are not published, requests of persons. So it comes at least a day after the last request of the tenant.
//
// First all services count, then all erase, then all count again, and at last the tenant itself is erased. Every step is recorded
// before the next begins and may be repeated, so any instance continues after a crash, and two may work at once.
//
// Rows can come back: from a restored database, from changes that Kafka still has when a reader goes back, from a redrive. So every
// erased tenant is counted again each hour, for ever, and what came back is erased again.
package offboarding
