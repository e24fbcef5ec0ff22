package claims

import (
	"context"
	"time"
)

const recoveryBatch = 50

// Recover settles the claims that a crash, or a fault of orders, left behind. It runs at every
// interval until ctx ends; a claim that cannot be settled is met again after its lease.
func (s *Saga) Recover(ctx context.Context, interval time.Duration) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := s.RecoverOnce(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "recover claims", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// RecoverOnce settles every claim whose lease has ended. A claim that fails holds up no other.
func (s *Saga) RecoverOnce(ctx context.Context) error {
	for {
		stale, err := s.Links.TakeStale(ctx, s.Lease, recoveryBatch)
		if err != nil {
			return err
		}
		for _, link := range stale {
			if _, err := s.Settle(ctx, link); err != nil && ctx.Err() == nil {
				s.Log.WarnContext(ctx, "settle claim", "link_id", link.Record.GetId(), "error", err)
			}
		}
		if len(stale) > 0 {
			s.Woken()
		}
		if len(stale) < recoveryBatch {
			return nil
		}
	}
}
