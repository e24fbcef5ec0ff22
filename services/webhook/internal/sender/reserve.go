package sender

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// Lookup has the endpoints of tenants. Each was correct at some time after Began.
type Lookup struct {
	Began     time.Time
	Endpoints map[string]Subscriptions
}

// Subscriptions are the endpoints of a tenant. They must not be changed.
type Subscriptions struct {
	// LookedUp is a time before they were read.
	LookedUp time.Time
	List     []*tenantsv1.EndpointSubscription
}

// endpoints returns those of the tenants of the events.
func (l Lookup) endpoints(events []store.Event) endpoints {
	found := endpoints{}
	seen := map[string]struct{}{}
	for _, e := range events {
		if _, again := seen[e.TenantID]; again {
			continue
		}
		seen[e.TenantID] = struct{}{}
		tenant := l.Endpoints[e.TenantID]
		for _, s := range tenant.List {
			found[s.GetKeyId()] = endpointOf(s.GetEndpoint(), tenant.LookedUp)
		}
	}
	return found
}

// Reservation is the workers that are reserved for deliveries which the fan-out is about to store. It ends with Send.
type Reservation struct {
	sender *Sender
	// workers is how many are reserved for each endpoint; none if the lease is nil.
	workers map[store.Endpoint]int
	lease   *store.Lease
	// leaseEnd is before the end of the lease in the database.
	leaseEnd time.Time
	lookup   earlierLookup
}

// Reserve reserves free workers for new deliveries of the events. The fan-out stores these deliveries with the reservation's lease.
// The others are sent after a claim.
func (s *Sender) Reserve(events []store.Event, l Lookup) *Reservation {
	s.intake.Lock()
	defer s.intake.Unlock()
	r := &Reservation{sender: s, workers: map[store.Endpoint]int{}}
	if s.stopped || !s.registered.Load() {
		return r
	}
	at := l.endpoints(events)
	slots := s.schedule.reserve(events, at)
	if len(slots) == 0 {
		return r
	}
	for id := range slots {
		r.workers[id.Endpoint]++
	}
	s.workers.Add(1)
	r.lease = &store.Lease{Sender: s.id, Length: s.cfg.Lease, Share: s.cfg.PerEndpoint, Slots: slots}
	r.leaseEnd, r.lookup = s.now().Add(s.cfg.Lease), earlierLookup{l.Began, at}
	return r
}

// Lease is the lease of the deliveries that have a worker, or nil if none has.
func (r *Reservation) Lease() *store.Lease { return r.lease }

// Send sends the deliveries that were leased and frees the other workers. It must be called, also if nothing was stored; a second
// call does nothing. The deliveries are sent even if ctx has ended.
func (r *Reservation) Send(ctx context.Context, leased []store.Delivery) {
	if r.lease == nil {
		return
	}
	s := r.sender
	r.lease = nil
	defer s.workers.Done()
	for _, d := range leased {
		r.workers[d.Endpoint]--
	}
	s.unreserve(r.workers)
	if len(leased) > 0 {
		// The context may be of a trace that is not that of each delivery.
		s.dispatch(trace.ContextWithSpanContext(context.WithoutCancel(ctx), trace.SpanContext{}), leased, r.leaseEnd, r.lookup)
	}
}

// unreserve frees workers. Deliveries may have been waiting for them.
func (s *Sender) unreserve(workers map[store.Endpoint]int) {
	freed := false
	s.schedule.guard.Lock()
	for e, n := range workers {
		if n > 0 {
			s.schedule.free(e, n)
			freed = true
		}
	}
	s.schedule.guard.Unlock()
	if freed {
		s.slotFreed()
	}
}

// reserve gives a worker to each new delivery for which a claim would get one. It counts them as in flight and returns them with
// the slots of their endpoints. If an endpoint waits for a claim, is being claimed for or is impaired, its new deliveries wait for
// a claim too. One worker is left for each endpoint that might be claimed for.
func (s *schedule) reserve(events []store.Event, at endpoints) (slots map[store.DeliveryID]int) {
	s.guard.Lock()
	defer s.guard.Unlock()
	slots = map[store.DeliveryID]int{}
	used := s.workerUse()
	free := s.freeWorkers() - s.claimable(used)
	for _, event := range events {
		for _, key := range event.KeyIDs {
			e := store.Endpoint{TenantID: event.TenantID, KeyID: key}
			if free <= 0 {
				return slots
			}
			if at[key].url == "" || !s.reservable(e, used) {
				continue
			}
			free--
			s.inFlight[e]++
			used.add(s.healthOf(e), e.TenantID, 1)
			slots[store.DeliveryID{Endpoint: e, EventID: event.ID}] = s.inFlight[e]
		}
	}
	return slots
}

// reservable reports whether a worker may be reserved for an endpoint.
func (s *schedule) reservable(e store.Endpoint, used *workerUse) bool {
	_, waits := s.due[e]
	_, claimed := s.claiming[e]
	h := s.histories[e]
	return !waits && !claimed && (h == nil || !h.impaired()) &&
		s.budget(store.Due{Endpoint: e}).Rows > 0 && used.available(s.healthOf(e), e.TenantID) > 0
}

// claimable counts the scheduled endpoints for which a claim might get something.
func (s *schedule) claimable(used *workerUse) (n int) {
	for e, d := range s.due {
		if s.budget(d.Due).Rows > 0 && used.available(s.healthOf(e), e.TenantID) > 0 {
			n++
		}
	}
	return n
}
