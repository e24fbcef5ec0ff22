// Package kafka writes to and reads from Kafka for all services.
//
// # Contract
//
// Order: messages of one key are read in the order in which they were given to [Producer.Publish], even after failures and
// retries. A retry may make duplicates; it never lets a later message of a key appear before the first appearance of an earlier
// one, and it never loses a message that Publish has acknowledged.
//
// Delivery: a [Consumer] passes every message to its [Handler] at least once, in the order of offsets within a partition. It
// begins at the offset that the handler has stored ([Offsets]), not at the one that the group has committed.
//
// Servers that go back in time: if the handler's database is restored to an earlier state, its offset goes back with it, and
// what it lost is read again. If Kafka loses its newest messages and writes others at their offsets, the message before the
// stored offset is another one, and the partition is read again from before the loss. If messages are gone from Kafka before
// they were stored, the partition is not read until a person has moved the stored offset.
//
// # Requirements for callers
//
//   - The caller of Publish stops at the first error and resumes with the oldest
//     message that was not acknowledged. It never skips one.
//   - A handler is idempotent: it drops duplicates by the id inside the message.
//   - A handler stores the offset after a batch in the transaction that stores
//     the batch. It refuses a batch that begins after the stored offset
//     ([ErrBeyondStored]), and never moves the offset back. When the lease of
//     a partition is lost, the handler's context ends, but a handler that does
//     not look at it may still be running while the new reader reads the same
//     messages. Only the handler's own transaction can distinguish the two.
//   - The number of partitions of a topic never changes: the partition follows
//     from the key and that number, so a change would break the order of keys.
//   - In production a topic has at least three replicas and min.insync.replicas
//     of at least two; without them an acknowledged message lives on one disk.
package kafka
