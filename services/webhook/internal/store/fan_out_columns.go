package store

import (
	"time"

	"github.com/partnergifting/platform/pkg/postgres"
)

// fanOutColumns are the rows that a transaction of the fan-out stores.
type fanOutColumns struct {
	events   []Event
	from     []int // The partition of each event, or -1 if it is not of a message.
	moved    []Messages
	rejected []Rejected
	// deliveries are those of all events. A rank counts those to lease of the same endpoint, from 1; 0 is one not to lease.
	deliveries []DeliveryID
	ranks      []int
	// wanted is the highest rank of each endpoint.
	wanted map[Endpoint]int
	// lease is that of the batches, and endpoints those that it wants to send to.
	lease     Lease
	endpoints []Endpoint
}

func columnsOf(batches []*batch) *fanOutColumns {
	c := &fanOutColumns{wanted: map[Endpoint]int{}}
	for _, b := range batches {
		from := -1
		if b.messages != nil {
			from = b.messages.Partition
			c.moved = append(c.moved, *b.messages)
		}
		c.rejected = append(c.rejected, b.rejected...)
		for _, e := range b.events {
			c.add(e, from, b.lease)
		}
		c.join(b.lease)
	}
	for e := range c.lease.InFlight {
		c.endpoints = append(c.endpoints, e)
	}
	return c
}

func (c *fanOutColumns) add(e Event, from int, l *Lease) {
	c.events, c.from = append(c.events, e), append(c.from, from)
	for _, key := range e.KeyIDs {
		id, rank := DeliveryID{Endpoint{e.TenantID, key}, e.ID}, 0
		if l != nil {
			if _, wanted := l.Deliveries[id]; wanted {
				c.wanted[id.Endpoint]++
				rank = c.wanted[id.Endpoint]
			}
		}
		c.deliveries, c.ranks = append(c.deliveries, id), append(c.ranks, rank)
	}
}

// join adds the endpoints of a lease. All batches have the same sender. It counts the rows of one that reserved more slots of the
// same endpoint later, so that it never leases too many.
func (c *fanOutColumns) join(l *Lease) {
	if l == nil {
		return
	}
	if c.lease.InFlight == nil {
		c.lease = Lease{Sender: l.Sender, Length: l.Length, Share: l.Share, InFlight: map[Endpoint]int{}}
	}
	for e, n := range l.InFlight {
		c.lease.InFlight[e] = max(c.lease.InFlight[e], n)
	}
}

func (c *fanOutColumns) endpointKeys() []int32 {
	return postgres.Column(c.endpoints, func(e Endpoint) int32 { return e.KeyID })
}

func (c *fanOutColumns) partitions() []int {
	return postgres.Column(c.moved, func(m Messages) int { return m.Partition })
}

// slots are how many slots of its endpoint this sender uses with each delivery that it leases; nil is one not to lease.
func (c *fanOutColumns) slots() []*int {
	slots := make([]*int, len(c.deliveries))
	for i, rank := range c.ranks {
		if rank > 0 {
			slot := c.lease.InFlight[c.deliveries[i].Endpoint] + rank
			slots[i] = &slot
		}
	}
	return slots
}

// move are the arguments of moveOnly, and the first ones of insertEvents.
func (c *fanOutColumns) move(at *time.Time) []any {
	return []any{
		at, c.partitions(),
		postgres.Column(c.moved, func(m Messages) int64 { return m.First }),
		postgres.Column(c.moved, func(m Messages) int64 { return m.Next }),
		postgres.Column(c.moved, func(m Messages) string { return m.LastID }),
		postgres.Column(c.moved, func(m Messages) time.Time { return m.LastTime }),
	}
}

// insert are the arguments of insertEvents.
func (c *fanOutColumns) insert(at *time.Time, token string) []any {
	tenants, ids, keys := idColumns(c.deliveries)
	endpointTenants, endpointKeys := endpointColumns(c.endpoints)
	return append(c.move(at),
		postgres.UUIDColumn(c.events, func(e Event) string { return e.TenantID }),
		postgres.UUIDColumn(c.events, func(e Event) string { return e.ID }),
		postgres.Column(c.events, func(e Event) string { return e.Type }),
		postgres.Column(c.events, func(e Event) []byte { return e.Body }),
		postgres.Column(c.events, func(e Event) string { return e.TraceParent }),
		c.from,
		postgres.UUIDColumn(c.events, func(e Event) string { return e.BrandID }),
		tenants, ids, keys, c.slots(),
		endpointTenants, endpointKeys,
		c.lease.Sender, c.lease.Share, c.lease.Length, token,
		postgres.UUIDColumn(c.events, func(e Event) string { return e.SubjectID }))
}
