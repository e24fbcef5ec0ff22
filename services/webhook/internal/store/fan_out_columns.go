package store

import (
	"time"

	"github.com/partnergifting/platform/pkg/postgres"
)

// fanOutColumns are the rows that a transaction of the fan-out stores.
type fanOutColumns struct {
	events []Event
	// eventPartitions has the partition of each event, or -1 if it is not of a message.
	eventPartitions []int
	// messages are those whose offsets the transaction stores.
	messages []Messages
	rejected []Rejected
	// deliveries are those of all events, and slots those of the deliveries to lease; nil is one not to lease.
	deliveries []DeliveryID
	slots      []*int
	// lease is that of the batches, which all have the same sender, and endpoints those that it wants to send to.
	lease     Lease
	endpoints []Endpoint
}

func columnsOf(batches []*batch) *fanOutColumns {
	c := &fanOutColumns{}
	wanted := map[Endpoint]bool{}
	for _, b := range batches {
		partition := -1
		if b.messages != nil {
			partition = b.messages.Partition
			c.messages = append(c.messages, *b.messages)
		}
		c.rejected = append(c.rejected, b.rejected...)
		var slots map[DeliveryID]int
		if b.lease != nil {
			c.lease, slots = *b.lease, b.lease.Slots
		}
		for _, e := range b.events {
			c.addEvent(e, partition, slots)
		}
		for id := range slots {
			if !wanted[id.Endpoint] {
				wanted[id.Endpoint] = true
				c.endpoints = append(c.endpoints, id.Endpoint)
			}
		}
	}
	return c
}

func (c *fanOutColumns) addEvent(e Event, partition int, slots map[DeliveryID]int) {
	c.events, c.eventPartitions = append(c.events, e), append(c.eventPartitions, partition)
	for _, key := range e.KeyIDs {
		id := DeliveryID{Endpoint{e.TenantID, key}, e.ID}
		c.deliveries, c.slots = append(c.deliveries, id), append(c.slots, postgres.Nullable(slots[id]))
	}
}

func (c *fanOutColumns) endpointKeys() []int32 {
	return postgres.Column(c.endpoints, func(e Endpoint) int32 { return e.KeyID })
}

func (c *fanOutColumns) partitions() []int {
	return postgres.Column(c.messages, func(m Messages) int { return m.Partition })
}

// offsetArgs are the arguments of moveOnly, and the first ones of insertEvents.
func (c *fanOutColumns) offsetArgs(at *time.Time) []any {
	return []any{
		at, c.partitions(),
		postgres.Column(c.messages, func(m Messages) int64 { return m.First }),
		postgres.Column(c.messages, func(m Messages) int64 { return m.Next }),
		postgres.Column(c.messages, func(m Messages) string { return m.LastID }),
		postgres.Column(c.messages, func(m Messages) time.Time { return m.LastTime }),
	}
}

// insertArgs are the arguments of insertEvents.
func (c *fanOutColumns) insertArgs(at *time.Time, token string) []any {
	tenants, ids, keys := idColumns(c.deliveries)
	endpointTenants, endpointKeys := endpointColumns(c.endpoints)
	return append(c.offsetArgs(at),
		postgres.UUIDColumn(c.events, func(e Event) string { return e.TenantID }),
		postgres.UUIDColumn(c.events, func(e Event) string { return e.ID }),
		postgres.Column(c.events, func(e Event) string { return e.Type }),
		postgres.Column(c.events, func(e Event) []byte { return e.Body }),
		postgres.Column(c.events, func(e Event) string { return e.TraceParent }),
		c.eventPartitions,
		postgres.UUIDColumn(c.events, func(e Event) string { return e.BrandID }),
		tenants, ids, keys, c.slots,
		endpointTenants, endpointKeys,
		c.lease.Sender, c.lease.Share, c.lease.Length, token,
		postgres.UUIDColumn(c.events, func(e Event) string { return e.SubjectID }))
}
