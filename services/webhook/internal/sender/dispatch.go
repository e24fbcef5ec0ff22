package sender

import (
	"context"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// pauseDuration is for how long deliveries to an endpoint are not claimed while its tenant's API access is off.
const pauseDuration = 15 * time.Second

// dispatch gives each leased delivery to a worker, or releases it. leaseEnd is when their leases end.
func (s *Sender) dispatch(ctx context.Context, deliveries []store.Delivery, leaseEnd time.Time, earlier earlierLookup) {
	found, err := s.endpointsOf(ctx, deliveries, earlier)
	ctx = context.WithoutCancel(ctx) // Claimed deliveries are sent or released even if the process is stopping.
	if err != nil {
		s.log.WarnContext(ctx, "cannot look up endpoints, deliveries wait", "deliveries", len(deliveries), "error", err)
		s.release(ctx, deliveries, s.cfg.Poll)
		s.slotFreed(deliveries...)
		return
	}
	var paused []store.Delivery
	for _, d := range deliveries {
		to := found[d.KeyID]
		if to.paused {
			paused = append(paused, d)
			continue
		}
		s.workers.Go(func() {
			s.deliver(ctx, leasedDelivery{Delivery: d, leaseEnd: leaseEnd}, to)
			s.slotFreed(d)
		})
	}
	s.pause(ctx, paused)
}

// pause releases deliveries and keeps their endpoints from being claimed for a while.
func (s *Sender) pause(ctx context.Context, deliveries []store.Delivery) {
	if len(deliveries) == 0 {
		return
	}
	s.metrics.count(ctx, paused, len(deliveries))
	seen := map[store.Endpoint]bool{}
	var list []store.Endpoint
	for _, d := range deliveries {
		if !seen[d.Endpoint] {
			seen[d.Endpoint] = true
			list = append(list, d.Endpoint)
		}
	}
	var wait time.Duration
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	if err := s.store.Pause(ctx, list, pauseDuration); err != nil {
		s.log.WarnContext(ctx, "cannot pause endpoints", "endpoints", len(list), "error", err)
		wait = pauseDuration // Without the pause the deliveries themselves must wait.
	}
	s.release(ctx, deliveries, wait)
	s.slotFreed(deliveries...)
}

// release ends the leases of deliveries that were not sent: they are due again after wait. If that fails,
// they are due when their leases end.
func (s *Sender) release(ctx context.Context, deliveries []store.Delivery, wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := s.store.Release(ctx, deliveries, wait); err != nil {
		s.log.WarnContext(ctx, "cannot release deliveries before their leases end", "error", err)
		return
	}
	if wait > 0 && wait < s.heartbeat {
		time.AfterFunc(wait, s.Wake)
	}
}
