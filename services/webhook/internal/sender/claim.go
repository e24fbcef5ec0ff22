package sender

import (
	"context"
	"sync"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// claimTimeout ends a claim that takes too long.
const claimTimeout = 5 * time.Second

// claim leases up to limit due deliveries. It continues when the process is stopping: an interrupted claim may have been
// committed, and its deliveries would wait for the end of their leases.
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

// slotFreed wakes the sender after an attempt if the last claim left deliveries because there were no slots for them. Otherwise
// there is nothing to claim: deliveries stored later wake the sender themselves.
func (s *Sender) slotFreed() {
	if s.slotsFreed.Store(true); s.backlog.Load() {
		s.Wake()
	}
}

// Wake notifies the sender that deliveries may be due. It never blocks, and many calls count as one.
func (s *Sender) Wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Notify notifies the sender that deliveries to the keys have been stored. The sender can then look up their endpoints while it
// claims them.
func (s *Sender) Notify(keys []int32) {
	s.stored.add(keys, s.cfg.Workers)
	s.Wake()
}

// storedKeys collects the keys whose deliveries have been stored since the last claim.
type storedKeys struct {
	guard sync.Mutex
	keys  []int32
}

// add keeps at most limit keys, because a claim takes no more deliveries.
func (k *storedKeys) add(keys []int32, limit int) {
	k.guard.Lock()
	defer k.guard.Unlock()
	k.keys = append(k.keys, keys[:min(len(keys), max(limit-len(k.keys), 0))]...)
}

func (k *storedKeys) take() []int32 {
	k.guard.Lock()
	defer k.guard.Unlock()
	keys := k.keys
	k.keys = nil
	return keys
}
