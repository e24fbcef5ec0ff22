// Package relay publishes the outboxes of all services to Kafka in one order (API specification, section Event feed).
//
// # Order
//
// The requirement: if the response to change A of a tenant reached its caller before change B of the tenant was requested, A is
// published before B, even if the two are in different databases.
//
// The relay publishes one batch at a time:
//
//  1. It notes the time T, the watermark, by its own clock.
//  2. Then it reads from every source the visible rows with the lowest ids, and with the same statement the source's clock.
//  3. It merges the rows recorded up to T by the time they were recorded, and publishes them.
//
// Why A comes first: let B be in a batch. B was recorded up to T, and therefore before any outbox was read. A was committed
// before B was requested, and therefore before any outbox was read too. So this batch sees A, or an earlier one has published it.
// A was recorded before B, so the merge puts it first.
//
// If the watermark holds rows back, the sources are read a second time. The first read has seen these rows, so they were recorded
// before the second begins, and no clock is needed to tell.
//
// Without the watermark a batch could read A's source just before A is committed, and B's source just
// after B is committed. It would publish B first.
//
// A source that returns as many rows as were requested may have more. The earliest of those then lowers the watermark of the
// batch for all sources, because rows of the others may belong after it.
//
// # Clocks
//
// The relay measures with each read how far the clock of each server is ahead of its own, and converts all times to its own. The
// watermark is T less what the measurement may be wrong by. The measurement is exact to less than half of a round trip, and a
// change takes at least one. So servers whose clocks differ by minutes are merged in the right order, and none of their changes
// waits. If a read took long and rows of several servers are to be merged, their clocks are read again.
//
// Within a source the order of ids counts, not the clock: of two changes of which one was answered before the other was
// requested, the first has the lower id. A row counts as recorded no later than every row with a higher id, and no later than the
// batch after the one that saw it. So a clock that steps back, as after a fail-over, neither inverts two changes nor delays
// one.
//
// After a step or a fail-over, the former clock still converts what it has dated: the rows whose ids were handed out before its
// last reading, and those that the present clock would date before that reading or after the present one. Two changes of different
// servers can only be inverted
//
//   - if one of them was recorded between these two readings, and the step is shorter than the time between them;
//   - if a relay does not know the former clock, because it began to lead or to publish everything again after the step;
//   - if more rows wait than a batch has, and the clock of the new server is behind that of the former one.
//
// # Nothing is lost
//
// Ids become visible out of order, so a position alone would skip a row that becomes visible late. Each source has a window:
// the highest id that was published, or handed out before a read found nothing, and the gaps below it. The ids in gaps are looked
// up again with each batch, until every transaction that may have taken them has ended. This also keeps reads fast while an old
// snapshot, such as a backup's, keeps deleted rows from being removed: the window does not include them.
//
// A row is deleted only after the feed and the webhooks have stored its event, and after the relay has found the newest message
// that it published to the row's partition unchanged in Kafka. If that message is gone, or a new one gets its offset or an earlier
// one, Kafka has lost its tail, and everything in the outboxes is published again. The same happens if a source's server is
// restarted or replaced, because a restored database hands out ids again.
//
// # Leaders
//
// Any number of processes may run the relay. The leader is the one whose session holds an advisory lock. The lock is released when
// the session ends, and a process that loses it stops.
//
// If two processes lead for a moment, after a pause or a lost connection, each of them publishes all changes in their order, from
// the oldest that was not stored on, and may stop at any time. The next change after those that one has published may come from the
// other, but never before its own predecessors. So the only effect is duplicates.
//
// # Failures
//
//   - A source cannot be read: nothing is published, because its rows may belong before those of others.
//   - Kafka refuses a message: the batch ends there. The next one begins with the oldest row again.
//   - The feed or the webhooks do not store events: rows stay in the outbox. If there are too many to remember, the others are
//     published again later.
//   - The relay stops after publishing and before deleting: the rows are published again.
//
// So a failure can delay and repeat events, but never skip or reorder them. Readers drop duplicates by event id.
//
// # Assumptions
//
// Each source is a primary. A change writes to its record before its outbox row, so its transaction has a number before it
// takes an id. Listening and leadership need direct connections to the server, without a transaction pooler.
//
// # Notifications
//
// Services notify the relay right after a commit, over a channel of their database, so an idle relay need not poll: it only reads
// the outboxes once per heartbeat, which is the most that a lost notification delays a change. It polls quickly while it does not
// listen to all sources.
package relay
