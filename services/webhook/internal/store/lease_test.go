package store

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

const ownSender = 77

// newLease is a lease of no delivery yet.
func newLease() *Lease {
	return &Lease{Sender: ownSender, Length: 30 * time.Second, Share: 3, Slots: map[DeliveryID]int{}}
}

// lease fans out n events to key 1 of tenantA that are all to be leased, while the sender has some in flight.
func (f *fixture) lease(t *testing.T, n, inFlight int) FannedOut {
	t.Helper()
	l := newLease()
	var events []Event
	for i := range n {
		e := anEvent(newID(), 1, 2)
		e.Body, e.TraceParent = []byte(e.ID), "trace"
		events = append(events, e)
		l.Slots[DeliveryID{own, e.ID}] = inFlight + i + 1
	}
	stored := f.stored(t, 0)
	done, err := f.FanOutMessages(t.Context(), Messages{First: stored.Next, Next: stored.Next + 1, LastTime: noon}, events, nil, l)
	require.NoError(t, err)
	return done
}

func TestNewDeliveriesAreLeasedToTheirSender(t *testing.T) {
	t.Parallel()
	registered := func(t *testing.T) *fixture {
		f := setup(t)
		require.NoError(t, f.Register(t.Context(), ownSender))
		return f
	}
	t.Run("as many as the endpoint has slots, with all that a claim returns", func(t *testing.T) {
		f := registered(t)
		done := f.lease(t, 4, 1)
		require.Len(t, done.Leased, 2)
		for _, d := range done.Leased {
			require.Equal(t, Delivery{
				DeliveryID: DeliveryID{own, d.EventID}, Type: "order.created", BrandID: aBrand, Body: []byte(d.EventID),
				Token: d.Token, TraceParent: "trace",
			}, d)
			require.NoError(t, uuid.Validate(d.Token))
		}
		require.Len(t, done.Due, 2, "the rest, and the other key")
		require.Len(t, f.claim(t, noon, 100, 1), 1, "no slot of key 1 is free, and one of key 2")
		require.NoError(t, f.record(t, done.Leased[0], delivered, 200))
		require.Len(t, f.claim(t, noon.Add(time.Second), 100, 2), 2, "one of each key")
		f.now = noon.Add(30 * time.Second)
		require.Len(t, f.claim(t, f.now, 100, 100), 8-1-2, "all leases have ended but those of the last claim")
		require.ErrorIs(t, f.record(t, done.Leased[1], delivered, 200), errLeaseLost)
	})
	t.Run("not those for which other instances have the slots", func(t *testing.T) {
		f := registered(t)
		f.addEvent(t, tenantA, noon, 1)
		f.addEvent(t, tenantA, noon, 1)
		require.Len(t, f.claim(t, noon, 100, 3), 2)
		require.Len(t, f.lease(t, 3, 0).Leased, 1)
		require.Empty(t, f.lease(t, 3, 1).Leased)
	})
	t.Run("not while another instance claims for the endpoint", func(t *testing.T) {
		f := registered(t)
		tx, err := f.pool.Begin(t.Context())
		require.NoError(t, err)
		pgtest.Exec(t, tx, "SELECT pg_advisory_xact_lock($1::int, 1)", claimLock)
		require.Empty(t, f.lease(t, 1, 0).Leased)
		require.NoError(t, tx.Rollback(t.Context()))
		require.Len(t, f.lease(t, 1, 0).Leased, 1)
	})
	t.Run("not to a paused endpoint", func(t *testing.T) {
		f := registered(t)
		require.NoError(t, f.Pause(t.Context(), []Endpoint{{tenantA, 1}}, time.Minute))
		require.Empty(t, f.lease(t, 1, 0).Leased)
		f.now = noon.Add(time.Minute)
		require.Len(t, f.lease(t, 1, 0).Leased, 1)
	})
	t.Run("not to a sender that is not registered", func(t *testing.T) {
		require.Empty(t, setup(t).lease(t, 1, 0).Leased)
	})
	t.Run("not those of an event that is stored already", func(t *testing.T) {
		f := registered(t)
		id := f.addEvent(t, tenantA, noon, 1)
		l := newLease()
		l.Slots[DeliveryID{own, id}] = 1
		f.stored(t, 0)
		done, err := f.FanOutMessages(t.Context(), Messages{Next: 1, LastTime: noon}, []Event{anEvent(id, 1)}, nil, l)
		require.NoError(t, err)
		require.Empty(t, done.Leased)
		require.Len(t, done.Due, 1)
	})
}

// Two batches of different partitions share a transaction, and both have reserved slots of one endpoint.
func TestBatchesThatShareATransactionLeaseNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.NoError(t, f.Register(t.Context(), ownSender))
	var batches []*batch
	for partition := range 2 {
		_, err := Offsets{f.Store}.Stored(t.Context(), partition, 0)
		require.NoError(t, err)
		b := &batch{
			messages: &Messages{Partition: partition, Next: 1, LastTime: noon},
			lease:    newLease(),
		}
		for i := range 2 {
			e := anEvent(newID(), 1)
			b.events = append(b.events, e)
			b.lease.Slots[DeliveryID{own, e.ID}] = 2 + 2*partition + i // One row is in flight.
		}
		batches = append(batches, b)
	}
	require.NoError(t, f.fanOut(t.Context(), batches))
	require.Len(t, batches[0].result().Leased, 2)
	require.Empty(t, batches[1].result().Leased)
}
