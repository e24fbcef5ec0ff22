package claims

import (
	"context"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const batch = 50

// ReconcileExpired reconciles every claim whose lease has ended, as after a crash or a failure of orders. A claim that cannot
// be reconciled delays the others at most by the time-out of a call. It is tried again after another lease.
func (s *Saga) ReconcileExpired(ctx context.Context) error {
	return daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
		expired, err := s.deps.Links.TakeExpiredClaims(ctx, s.deps.Lease, limit)
		if err != nil {
			return 0, err
		}
		for _, link := range expired {
			if _, err := s.Reconcile(ctx, link); err != nil && ctx.Err() == nil {
				s.deps.Log.WarnContext(ctx, "cannot reconcile a claim", "link_id", link.Record.GetId(), "error", err)
			}
		}
		if len(expired) > 0 {
			s.deps.Wake()
		}
		return len(expired), nil
	})
}

// Reconcile ends the claim in flight of a locked link. If its order was placed, or the link has the order of an earlier claim,
// the link becomes CLAIMED. Otherwise the link is open again and the order will never be placed.
func (s *Saga) Reconcile(ctx context.Context, link *rules.Link) (*rules.Link, error) {
	result, err := s.reconcile(ctx, s.deps.Links.FinishClaim, link)
	return result.Link, err
}

func (s *Saga) reconcile(ctx context.Context, finish FinishClaim, link *rules.Link) (result Result, err error) {
	orderID, tenantID, id := *link.ClaimOrderID, link.TenantID, link.Record.GetId()
	outcome, err := s.deps.Orders.AbandonClaimedOrder(ctx, &ordersv1.AbandonClaimedOrderRequest{
		OrderId: orderID, TenantId: tenantID, PersonalLinkId: id,
	})
	if err != nil {
		return result, err
	}
	if order := outcome.GetOrder(); order != nil {
		return s.finish(ctx, finish, link, order)
	}
	result.Link, err = s.deps.Links.UnlockClaim(ctx, tenantID, id, orderID)
	return result, err
}

// PlacedOrder returns the order of a claimed link, or nil if orders has lost it. To abandon a claim whose order was placed only
// reads the order.
func (s *Saga) PlacedOrder(ctx context.Context, link *rules.Link) (*ordersv1.Order, error) {
	id, orderID := link.Record.GetId(), link.Record.GetOrderId()
	outcome, err := s.deps.Orders.AbandonClaimedOrder(ctx, &ordersv1.AbandonClaimedOrderRequest{
		OrderId: orderID, TenantId: link.TenantID, PersonalLinkId: id,
	})
	if err != nil || outcome.GetOrder().GetId() != orderID {
		return nil, err
	}
	return outcome.GetOrder(), nil
}

// Outcome waits until no claim of the link is in flight and returns the link.
func (s *Saga) Outcome(ctx context.Context, link *rules.Link) (*rules.Link, error) {
	link, err := s.deps.Links.Get(ctx, link.TenantID, link.Record.GetId())
	if err != nil {
		return nil, err
	}
	return s.waitUnlocked(ctx, link)
}

// waitUnlocked waits until no other claim is in flight. A claim whose lease has ended is reconciled.
func (s *Saga) waitUnlocked(ctx context.Context, link *rules.Link) (*rules.Link, error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	end := time.NewTimer(maxWait)
	defer end.Stop()
	for link.ClaimOrderID != nil {
		if link.ClaimExpired {
			return s.Reconcile(ctx, link)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-end.C:
			return nil, problem.Unavailable()
		case <-ticker.C:
		}
		var err error
		if link, err = s.deps.Links.Get(ctx, link.TenantID, link.Record.GetId()); err != nil {
			return nil, err
		}
	}
	return link, nil
}
