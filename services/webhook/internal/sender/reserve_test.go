package sender

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// partition stores events like the fan-out of one partition.
type partition struct {
	*fixture

	number int
	next   int64
}

func (f *fixture) partition(number int) *partition {
	_, err := store.Offsets{Store: f.store}.Stored(f.t.Context(), number, 0)
	require.NoError(f.t, err)
	return &partition{fixture: f, number: number}
}

// lookup is a lookup that has just found the endpoints.
func lookup(found ...*tenantsv1.Endpoint) Lookup {
	l := Lookup{Began: time.Now(), Endpoints: map[string]Subscriptions{}}
	for _, e := range found {
		l.Endpoints[tenant] = Subscriptions{LookedUp: l.Began, List: append(l.Endpoints[tenant].List,
			&tenantsv1.EndpointSubscription{TenantId: tenant, KeyId: e.GetKeyId(), Endpoint: e})}
	}
	return l
}

// store stores events for which workers may be reserved.
func (p *partition) store(r *Reservation, events ...store.Event) store.FannedOut {
	p.t.Helper()
	m := store.Messages{Partition: p.number, First: p.next, Next: p.next + 1, LastTime: time.Unix(0, 0)}
	stored, err := p.fixture.store.FanOutMessages(p.t.Context(), m, events, nil, r.Lease())
	require.NoError(p.t, err)
	p.next++
	return stored
}

// reserve reserves workers until the test ends at the latest.
func (f *fixture) reserve(s running, l Lookup, events ...store.Event) *Reservation {
	r := s.Reserve(events, l)
	f.t.Cleanup(func() { r.Send(context.Background(), nil) })
	return r
}

// send does all that the fan-out does with events.
func (p *partition) send(s *Sender, l Lookup, events ...store.Event) {
	p.t.Helper()
	r := s.Reserve(events, l)
	stored := p.store(r, events...)
	r.Send(p.t.Context(), stored.Leased)
	s.Notify(stored.Due)
}

// startRegistered runs a sender that finds nothing by searches.
func (f *fixture) startRegistered() running {
	f.t.Helper()
	f.noSearch, f.cfg.Poll = true, time.Hour
	s := f.start()
	require.Eventually(f.t, s.registered.Load, waitLimit, pollInterval)
	return s
}

func TestNewDeliveriesAreSentWithoutAClaimOrALookup(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := f.receiver(7)
	s, p := f.startRegistered(), f.partition(0)
	for range 20 {
		e := newEvent(7)
		p.send(s.Sender, lookup(r.Endpoint(7)), e)
		require.Equal(t, row{State: "DELIVERED", Attempts: 1, Logged: 1}, f.waitFor(e.ID, 7, inState("DELIVERED")))
	}
	require.Len(t, r.Arrivals(), 20)
	require.Zero(t, f.lookups())
	require.Equal(t, string(r.Arrivals()[0].Body), `{"id":"`+r.Arrivals()[0].Header.Get("Service-Event-Id")+`"}`)
}

func TestDeliveriesBeyondThoseOfFreeWorkersAreClaimed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.neverTimeOut()
	f.cfg.PerEndpoint, f.healthy = 3, []int32{7}
	release := make(chan struct{})
	r := f.receiver(7, webhooktest.Blocked(release))
	s, p := f.startRegistered(), f.partition(0)
	var events []store.Event
	for range 10 {
		events = append(events, newEvent(7))
	}
	reserved := f.reserve(s, lookup(r.Endpoint(7)), events...)
	stored := p.store(reserved, events...)
	require.Len(t, stored.Leased, 3)
	require.Len(t, stored.Due, 1)
	require.Equal(t, endpointOfKey(7), stored.Due[0].Endpoint)
	reserved.Send(t.Context(), stored.Leased)
	s.Notify(stored.Due)
	require.Eventually(t, func() bool { return len(r.Arrivals()) == 3 }, waitLimit, pollInterval)
	require.Nil(t, s.Reserve([]store.Event{newEvent(7)}, lookup(r.Endpoint(7))).Lease(), "older deliveries wait")
	close(release)
	for _, e := range events {
		f.waitFor(e.ID, 7, inState("DELIVERED"))
	}
	require.Len(t, r.Arrivals(), 10)
	require.Equal(t, 3, r.MaxConcurrent())
}

// The reservation of a process that dies is never sent.
func TestWhatACrashedProcessHadReservedIsSentWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := f.receiver(7)
	crashed, p := f.startRegistered(), f.partition(0)
	events := []store.Event{newEvent(7)}
	require.Len(t, p.store(f.reserve(crashed, lookup(r.Endpoint(7)), events...), events...).Leased, 1)

	f.clock.advance(f.cfg.Lease - time.Microsecond)
	require.Empty(t, claimDue(t, f.store, time.Minute))
	f.clock.advance(time.Microsecond)
	f.noSearch, f.cfg.Poll = false, 50*time.Millisecond
	f.start()
	require.Equal(t, 1, f.waitFor(events[0].ID, 7, inState("DELIVERED")).Attempts)
	require.Len(t, r.Arrivals(), 1)
}

func TestStoppingSendsWhatWasReservedBefore(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := f.receiver(7)
	s, p := f.startRegistered(), f.partition(0)
	events := []store.Event{newEvent(7)}
	reserved := f.reserve(s, lookup(r.Endpoint(7)), events...)
	s.stop()
	ended := make(chan error, 1)
	go func() { ended <- s.wait() }()
	require.Eventually(t, func() bool {
		reserved := s.Reserve([]store.Event{newEvent(8)}, lookup(r.Endpoint(8)))
		defer reserved.Send(t.Context(), nil)
		return reserved.Lease() == nil
	}, waitLimit, pollInterval, "a stopped sender reserves nothing")
	stored := p.store(reserved, events...)
	require.Len(t, stored.Leased, 1)
	require.Empty(t, ended, "it waits for the reservation")
	reserved.Send(t.Context(), stored.Leased)
	require.NoError(t, <-ended)
	require.Equal(t, row{State: "DELIVERED", Attempts: 1, Logged: 1}, f.row(events[0].ID, 7))
}

func TestAReservationThatTookLongLooksUpEndpointsAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s, p := f.startRegistered(), f.partition(0)
	r, revoked := f.receiver(7), f.receiver(8)
	l := lookup(r.Endpoint(7), revoked.Endpoint(8))
	l.Began = l.Began.Add(-lookupAge)
	r.Rotate(strings.Repeat("fedcba9876543210", 4))
	f.activate(7, r)
	f.makeGone(8)
	e := newEvent(7, 8)
	p.send(s.Sender, l, e)
	f.waitFor(e.ID, 7, inState("DELIVERED"))
	f.waitFor(e.ID, 8, inState("DROPPED"))
	require.True(t, r.Arrivals()[0].Verified, "by the new secret")
	require.Empty(t, revoked.Arrivals())
}

// Both instances reserve for the same endpoint: a partition was handed over while its rows were being sent.
func TestTwoInstancesThatReserveKeepTheLimitOfAnEndpoint(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.PerEndpoint, f.cfg.Poll, f.healthy = 3, 20*time.Millisecond, []int32{7}
	r := f.receiver(7)
	const events = 60
	var group errgroup.Group
	for number := range 2 {
		s, p := f.start(), f.partition(number)
		require.Eventually(t, s.registered.Load, waitLimit, pollInterval)
		group.Go(func() error {
			for range events {
				p.send(s.Sender, lookup(r.Endpoint(7)), newEvent(7))
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.Eventually(t, func() bool {
		open := pgtest.Value[int](t, f.pool, "SELECT count(*) FROM deliveries WHERE state <> 'DELIVERED'")
		return open == 0
	}, 2*waitLimit, pollInterval)
	require.LessOrEqual(t, r.MaxConcurrent(), 3)
	seen := map[string]bool{}
	for _, a := range r.Arrivals() {
		seen[a.Header.Get("Service-Event-Id")] = true
	}
	require.Len(t, seen, 2*events)
	require.Len(t, r.Arrivals(), 2*events, "no delivery is sent by both")
}

// reserves returns how many of the deliveries of new events workers are reserved for.
func (s *schedule) reserves(events int, keys ...int32) int {
	var list []store.Event
	at := endpoints{}
	for range events {
		list = append(list, newEvent(keys...))
	}
	for _, key := range keys {
		at[key] = endpoint{url: "https://example.com"}
	}
	return len(s.reserve(list, at))
}

func TestWhatMayBeReserved(t *testing.T) {
	t.Parallel()
	due := func(key int32) store.Due { return store.Due{Endpoint: endpointOfKey(key)} }
	newOf8 := func(healthy ...int32) *schedule {
		s := newSchedule(8, 3)
		for _, key := range healthy {
			s.startAttempt(endpointOfKey(key)).finish(true)
		}
		return s
	}
	t.Run("a healthy endpoint gets its slots, also one after the other", func(t *testing.T) {
		s := newOf8(1)
		require.Equal(t, 2, s.reserves(2, 1))
		require.Equal(t, 1, s.reserves(2, 1))
		require.Zero(t, s.reserves(2, 1))
	})
	t.Run("an unknown one gets one", func(t *testing.T) {
		require.Equal(t, 1, newOf8().reserves(3, 1))
	})
	t.Run("a slow or dead one gets none", func(t *testing.T) {
		s := newOf8(1)
		s.try(endpointOfKey(1), true, false)
		require.Equal(t, dead, s.healthOf(endpointOfKey(1)))
		require.Zero(t, s.reserves(1, 1))
	})
	t.Run("one that is paused or not known to the lookup gets none", func(t *testing.T) {
		require.Empty(t, newOf8(1, 2).reserve([]store.Event{newEvent(1, 2)}, endpoints{2: {paused: true}}))
	})
	t.Run("one that waits or is being claimed for gets none, until the claim ends", func(t *testing.T) {
		s := newOf8(1)
		s.add(false, due(1))
		require.Zero(t, s.reserves(1, 1))
		wanted, limit := s.startClaim()
		require.Len(t, wanted, 1)
		require.Equal(t, 8, limit)
		require.Zero(t, s.reserves(1, 1))
		s.claimed(nil)
		require.Equal(t, 1, s.reserves(1, 1))
	})
	t.Run("the workers that a claim may take are not free", func(t *testing.T) {
		s := newOf8(2, 3)
		s.add(false, due(2), due(3))
		_, limit := s.startClaim()
		require.Equal(t, 8, limit)
		require.Equal(t, 2, s.freeWorkers())
		s.claimed(nil)
		require.Equal(t, 8, s.freeWorkers())
	})
	t.Run("endpoints that wait keep a worker each", func(t *testing.T) {
		s := newSchedule(4, 3)
		s.startAttempt(endpointOfKey(1)).finish(true)
		s.add(false, due(2), due(3))
		require.Equal(t, 2, s.reserves(3, 1))
	})
	t.Run("a tenant does not get all workers", func(t *testing.T) {
		require.Equal(t, 7, newOf8(1, 2, 3, 4).reserves(3, 1, 2, 3, 4))
	})
}
