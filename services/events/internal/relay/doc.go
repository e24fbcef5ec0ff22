// Package relay publishes the outboxes of all services to Kafka in one order (API specification,
// section Event feed).
//
// # Order
//
// If the answer to change A reached its caller before change B was requested, A is published before
// B, also when they lie in different databases. A relay has one round at a time:
//
//  1. read a time T from the clocks of the sources,
//  2. then read from every source the rows it can see that were recorded up to T,
//  3. merge them by the time of record, publish them in that order, delete them.
//
// When B was recorded up to T, A was committed before T was read, so the reads that come after see
// A: this round or an earlier one publishes it, and its time of record sorts it before B. Without
// the cut at T, a read of A's source just before A's commit followed by a read of B's source just
// after B's commit would publish B first. A source whose read fills its limit lowers T for all to
// its last row, because rows of others may lie after what it did not return. Of one record, the
// row lock lets a later change be recorded only after the earlier one is visible.
//
// Rows are taken by what can be seen, never by a cursor over ids: ids become visible out of order.
//
// # Failures
//
// A round that fails publishes nothing further, and the next begins with the oldest row again: no
// row is ever skipped, and what was published but not deleted is published again. Readers drop
// duplicates by event id. While any source is down nothing is published at all, because its
// rows may belong before those of the others.
//
// One relay leads, by an advisory lock. Should two lead for a moment, each publishes in order and
// the only effect is duplicates.
//
// # What it relies on
//
// Each source is a primary, and its clock does not step backwards (a time service must slew it).
// Sources on different servers are merged by their own clocks: the order across them holds for
// changes further apart than the clocks. ClockSkew is how far the clocks may differ; it keeps T
// behind all of them.
//
// The services wake it over a notification channel of their databases, right after a commit; polling
// is the backstop. Listening, as the election, needs a connection that goes straight to the server
// and not through a pooler of transactions.
package relay
