// Package feed moves changes from Kafka into the feed's table and keeps the table's partitions.
//
// The Writer is the handler of a Kafka consumer: it may be given a batch again, and a consumer that
// has lost its partition may still be giving it one. The store makes both harmless. A message that
// cannot be read stops its partition, loudly: skipping it would lose an event in silence.
package feed
