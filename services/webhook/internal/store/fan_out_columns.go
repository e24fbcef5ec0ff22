package store

import (
	"time"

	"github.com/partnergifting/platform/pkg/postgres"
)

// fanOutColumns are the rows that a transaction of the fan-out stores.
type fanOutColumns struct {
	events   []Event
	from     []Messages // The messages of each event.
	moved    []Messages
	rejected []Rejected
	// deliveries are those of all events, and wanted says which of them to lease.
	deliveries []DeliveryID
	wanted     []bool
	// lease is that of the batches, and endpoints those that it wants to send to.
	lease     Lease
	endpoints []Endpoint
	inFlight  []int
}

func columnsOf(batches []*batch) *fanOutColumns {
	c := &fanOutColumns{}
	for _, b := range batches {
		messages := Messages{Partition: -1, Next: -1}
		if b.messages != nil {
			messages = *b.messages
			c.moved = append(c.moved, messages)
		}
		c.rejected = append(c.rejected, b.rejected...)
		for _, e := range b.events {
			c.add(e, messages, b.lease)
		}
		c.join(b.lease)
	}
	for e, n := range c.lease.InFlight {
		c.endpoints, c.inFlight = append(c.endpoints, e), append(c.inFlight, n)
	}
	return c
}

func (c *fanOutColumns) add(e Event, from Messages, l *Lease) {
	c.events, c.from = append(c.events, e), append(c.from, from)
	for _, key := range e.KeyIDs {
		id, wanted := DeliveryID{Endpoint{e.TenantID, key}, e.ID}, false
		if l != nil {
			_, wanted = l.Deliveries[id]
		}
		c.deliveries, c.wanted = append(c.deliveries, id), append(c.wanted, wanted)
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

// insert are the arguments of insertEvents.
func (c *fanOutColumns) insert(at *time.Time, token string) []any {
	tenants, ids, keys := idColumns(c.deliveries)
	endpointTenants, endpointKeys := endpointColumns(c.endpoints)
	return []any{
		at,
		postgres.UUIDColumn(c.events, func(e Event) string { return e.TenantID }),
		postgres.UUIDColumn(c.events, func(e Event) string { return e.ID }),
		postgres.Column(c.events, func(e Event) string { return e.Type }),
		postgres.Column(c.events, func(e Event) []byte { return e.Body }),
		postgres.Column(c.events, func(e Event) string { return e.TraceParent }),
		postgres.Column(c.from, func(m Messages) int { return m.Partition }),
		postgres.Column(c.from, func(m Messages) int64 { return m.Next }),
		postgres.Column(c.events, func(e Event) *string { return postgres.Nullable(e.BrandID) }),
		tenants, ids, keys, c.wanted,
		endpointTenants, endpointKeys, c.inFlight,
		c.lease.Sender, c.lease.Share, c.lease.Length, token,
	}
}
