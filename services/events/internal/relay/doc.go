// Package relay publishes the outboxes of all services to Kafka in one order (API specification, section Event feed).
//
// # Order
//
// The requirement: if the response to change A reached its caller before change B was requested, A is published before B, even
// if the two are in different databases.
//
// The relay publishes one batch at a time:
//
//  1. It reads the clock of every source. The earliest, less ClockSkew, is the watermark T.
//  2. Then it reads from every source the visible rows recorded up to T, oldest first.
//  3. It merges the rows by the time they were recorded, publishes them in that order and deletes them.
//
// Why A comes first: let B be in a batch. B was recorded up to T, so it was recorded before the clocks
// were read. A was committed before B was requested, and therefore before any outbox was read. So this
// batch sees A, or an earlier one has published it. A was recorded before B, so the merge puts it first.
//
// Without the watermark a batch could read A's source just before A is committed, and B's source just
// after B is committed. It would publish B first.
//
// A source that returns as many rows as were requested may have more. Its last row then lowers the watermark of the
// batch for all sources, because rows of the others may belong after those it did not return.
//
// Changes of one record keep their order too: each locks the record's row before it writes to the outbox. So a later change is
// recorded only after the earlier one is visible.
//
// # Nothing is lost
//
// A batch takes the rows it can see. It never remembers a position: ids and times become visible out of order, and a position
// would skip a row that becomes visible late. A row is deleted only after Kafka has confirmed it.
//
// # One leader
//
// Any number of processes may run the relay. The one that holds an advisory lock leads, the others campaign for leadership. The
// lock belongs to a connection: it is released when the leader's connection ends, and a leader that loses its connection stops.
// If there are two leaders for a moment, each publishes in order, so the only effect is duplicates.
//
// # Failures
//
//   - A source cannot be read: nothing is published, because its rows may belong before those of others.
//   - Kafka refuses a message: the batch ends there. The next one begins with the oldest row again.
//   - The relay stops after publishing and before deleting: the rows are published again.
//
// So a failure can delay and repeat events, but never skip or reorder them. Readers drop duplicates by event id.
//
// # Assumptions
//
// Each source is a primary whose clock does not step backwards: a time service must slew it. Sources on different servers are
// merged by their own clocks, so the order across them holds only for changes that are further apart than the difference of the
// clocks. ClockSkew is the largest difference: it keeps the watermark behind all clocks.
//
// Services notify the relay right after a commit, over a channel of their database. Polling finds changes whose notification
// was lost. Listening and leadership need direct connections to the server, without a transaction pooler.
package relay
