package sender

import (
	"context"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// claimTimeout ends a claim that hangs.
const claimTimeout = 5 * time.Second

// claim leases up to limit due deliveries. It goes on when the process is asked to stop: a claim that is
// interrupted may be committed, and its deliveries would wait for the end of their leases.
func (s *Sender) claim(ctx context.Context, limit int) (store.Claimed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	claimed, err := s.store.Claim(ctx, store.ClaimRequest{Lease: s.cfg.Lease, Limit: limit, PerEndpoint: s.cfg.PerEndpoint})
	if err != nil {
		return store.Claimed{}, err
	}
	if s.backlog.Store(claimed.More); claimed.More && s.slotsFreed.Load() {
		s.Wake()
	}
	return claimed, nil
}

// slotFreed wakes the sender after an attempt, if the last claim left deliveries because there were no
// slots for them. If it left none there is nothing to claim: deliveries stored later wake the sender
// themselves.
func (s *Sender) slotFreed() {
	if s.slotsFreed.Store(true); s.backlog.Load() {
		s.Wake()
	}
}
