// Package kafka writes to and reads from Kafka for all services.
//
// # Contract
//
// Order: messages of one key are read in the order in which they were given to [Producer.Publish], even after failures and
// retries. A retry may make duplicates; it never lets a later message of a key appear before the first appearance of an earlier
// one, and it never loses a message that Publish has acknowledged.
//
// Delivery: a [Consumer] passes every message to its [Handler] at least once, in the order of offsets within a
// partition, and commits an offset only after the handler has returned without error for every message before it.
//
// # Requirements for callers
//
//   - The caller of Publish stops at the first error and resumes with the oldest
//     message that was not acknowledged. It never skips one.
//   - A handler is idempotent: it drops duplicates by the id inside the message.
//   - A handler fences by offset in its own store. When a partition moves to
//     another member, the handler's context ends, but a handler that does not
//     look at it may still be running while the new owner reads the same
//     messages. Only the handler's own transaction can distinguish the two.
//   - The number of partitions of a topic never changes: the partition follows
//     from the key and that number, so a change would break the order of keys.
//   - In production a topic has at least three replicas and min.insync.replicas
//     of at least two; without them an acknowledged message lives on one disk.
package kafka
