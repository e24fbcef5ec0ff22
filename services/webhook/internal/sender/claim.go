package sender

import (
	"context"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// claimTimeout ends a claim that takes too long.
const claimTimeout = 5 * time.Second

// claim leases up to limit due deliveries of the endpoints, and schedules those endpoints again that may have more. It continues
// when the process is stopping: an interrupted claim may have been committed, and its deliveries would wait for the end of
// their leases.
func (s *Sender) claim(ctx context.Context, wanted []store.ClaimTarget, limit int) (store.Claimed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	claimed, err := s.store.Claim(ctx, store.ClaimRequest{
		Sender: s.id, Endpoints: wanted, Share: s.cfg.PerEndpoint, Lease: s.cfg.Lease, Limit: limit,
	})
	if err != nil {
		s.schedule.claimed(nil)
		for _, w := range wanted {
			s.schedule.add(true, w.Due)
		}
		return store.Claimed{}, err
	}
	s.schedule.claimed(claimed.Deliveries)
	got := map[store.Endpoint]bool{}
	for _, d := range claimed.Deliveries {
		got[d.Endpoint] = true
	}
	skipped := len(claimed.Contended)
	s.schedule.add(true, claimed.Contended...)
	for _, left := range claimed.Unclaimed {
		if !got[left.Endpoint] {
			skipped++
		}
		s.schedule.add(!got[left.Endpoint], left)
	}
	// Unless no worker is free, endpoints that get one row at a time are next, and those beyond the limit if not all that were
	// picked must wait.
	backlog := len(claimed.Deliveries) < limit && (s.schedule.hasWork() || len(wanted) == limit && skipped < len(wanted))
	if !s.schedule.empty() && (backlog || s.slotsFreed.Load()) {
		signal(s.ready)
	}
	return claimed, nil
}

// slotFreed counts deliveries as no longer in flight. The next ones may have been waiting for their slots.
func (s *Sender) slotFreed(list ...store.Delivery) {
	s.schedule.finished(list...)
	if s.slotsFreed.Store(true); !s.schedule.empty() {
		signal(s.ready)
	}
}

// Wake notifies the sender that deliveries may be due in the database. It never blocks, and many calls count as one.
func (s *Sender) Wake() { signal(s.woken) }

// Notify notifies the sender that the endpoints may have due deliveries. It claims them without searching for them.
func (s *Sender) Notify(due []store.Due) {
	if len(due) > 0 {
		s.schedule.add(false, due...)
		signal(s.ready)
	}
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
