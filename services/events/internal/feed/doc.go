// Package feed moves changes from Kafka into the feed's table and maintains the table's partitions.
//
// The Writer is the handler of a Kafka consumer. It may receive a batch twice, and a consumer that has
// lost its partition may still pass it one; the store makes both harmless. A message that cannot be
// decoded stops its partition: skipping it would lose an event in silence.
package feed
