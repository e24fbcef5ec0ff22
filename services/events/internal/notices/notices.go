// Package notices tells the readers of the feed which events have been committed, so that nobody polls for them.
//
// A Notice says who may see new events. The writer of a Kafka partition announces its events after they are committed: to the
// subscriptions of its own process directly, and to those of other instances by a notification of PostgreSQL. The notification is
// a transaction of its own, because one in the writing transaction would make the commits of all databases of the server queue for
// one lock.
//
// # No event without a notice
//
// A reader that subscribes, then reads the feed, then waits for a notice misses no event: an event that was committed before the
// read is in it, and a later one is announced later. Where notices may have been lost, subscriptions get Missed instead: when the
// connection that listens was lost, when a subscription has too many, and when this process has become the writer of a partition,
// whose former writer may have crashed between commit and notice. Readers then read once.
package notices

import (
	"strings"
	"sync"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// Notice says that events were committed which keys may see that belong to the tenant, reach the brand and have the scope.
type Notice struct {
	TenantID string
	BrandID  string
	Scope    commonv1.Scope
	// HiddenFrom is the key that posted the messages and does not see them; 0: none.
	HiddenFrom int32
}

// Of returns the notice of an event. No key sees an event whose notice has no scope.
func Of(c *eventsv1.Change) Notice {
	n := Notice{TenantID: c.GetTenantId(), BrandID: c.GetBrandId()}
	switch {
	case strings.HasPrefix(c.GetType(), "order."):
		n.Scope = commonv1.Scope_SCOPE_ORDERS
	case strings.HasPrefix(c.GetType(), "personal_link."):
		n.Scope = commonv1.Scope_SCOPE_PERSONAL_LINKS
	}
	if c.GetType() == "order.message_posted" {
		n.HiddenFrom = c.GetOriginKeyId()
	}
	return n
}

// maxPending is how many different notices a subscription holds. With more, they would cost more than one read by everybody.
const maxPending = 2000

// pending collects notices until they are drained.
type pending struct {
	notices map[Notice]struct{}
	missed  bool
}

func (p *pending) add(list []Notice) {
	if p.missed {
		return // All readers read anyway.
	}
	if p.notices == nil {
		p.notices = make(map[Notice]struct{}, len(list))
	}
	for _, n := range list {
		p.notices[n] = struct{}{}
	}
	if len(p.notices) > maxPending {
		p.miss()
	}
}

func (p *pending) miss() { p.notices, p.missed = nil, true }

func (p *pending) drain() (list []Notice, missed bool) {
	for n := range p.notices {
		list = append(list, n)
	}
	missed = p.missed
	*p = pending{}
	return list, missed
}

// Hub passes notices on within a process. Its zero value is ready.
type Hub struct {
	mu sync.Mutex
	// byTenant has the subscriptions to a tenant; those to all tenants are under the empty id.
	byTenant map[string]map[*Subscription]struct{}
}

// Subscription gets the notices of a tenant, or of all.
type Subscription struct {
	hub      *Hub
	tenantID string
	due      chan struct{}

	mu      sync.Mutex
	pending pending
}

// Subscribe begins a subscription to a tenant, or to all if the id is empty. The caller must Close it.
func (h *Hub) Subscribe(tenantID string) *Subscription {
	s := &Subscription{hub: h, tenantID: tenantID, due: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byTenant == nil {
		h.byTenant = map[string]map[*Subscription]struct{}{}
	}
	if h.byTenant[tenantID] == nil {
		h.byTenant[tenantID] = map[*Subscription]struct{}{}
	}
	h.byTenant[tenantID][s] = struct{}{}
	return s
}

// Due receives when there is something to drain.
func (s *Subscription) Due() <-chan struct{} { return s.due }

// Drain returns the notices since the last call, each once. missed means that there may have been others.
func (s *Subscription) Drain() (list []Notice, missed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending.drain()
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	subscriptions := s.hub.byTenant[s.tenantID]
	if delete(subscriptions, s); len(subscriptions) == 0 {
		delete(s.hub.byTenant, s.tenantID)
	}
}

func (s *Subscription) update(do func(p *pending)) {
	s.mu.Lock()
	do(&s.pending)
	s.mu.Unlock()
	select {
	case s.due <- struct{}{}:
	default:
	}
}

// Publish passes notices to those who have subscribed to their tenants.
func (h *Hub) Publish(list []Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(list) == 0 || len(h.byTenant) == 0 {
		return
	}
	for s := range h.byTenant[""] {
		s.update(func(p *pending) { p.add(list) })
	}
	for _, n := range list {
		for s := range h.byTenant[n.TenantID] {
			s.update(func(p *pending) { p.add([]Notice{n}) })
		}
	}
}

// Missed tells every subscription that notices may have been lost.
func (h *Hub) Missed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subscriptions := range h.byTenant {
		for s := range subscriptions {
			s.update((*pending).miss)
		}
	}
}
