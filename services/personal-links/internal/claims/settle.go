package claims

import (
	"context"
	"time"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// Settle ends the claim under way of a marked link: the link is CLAIMED if its order was placed,
// else open again, and its order will never be placed.
func (s *Saga) Settle(ctx context.Context, link *rules.Link) (*rules.Link, error) {
	settled, _, err := s.settle(ctx, link)
	return settled, err
}

func (s *Saga) settle(ctx context.Context, link *rules.Link) (*rules.Link, *ordersv1.Order, error) {
	orderID, tenantID, id := *link.ClaimOrderID, link.TenantID, link.Record.GetId()
	outcome, err := s.Orders.AbandonClaimedOrder(ctx, &ordersv1.AbandonClaimedOrderRequest{OrderId: orderID, TenantId: tenantID})
	if err != nil {
		return nil, nil, err
	}
	if outcome.GetOrder() == nil {
		settled, err := s.Links.Clear(ctx, tenantID, id, orderID)
		return settled, nil, err
	}
	settled, err := s.Links.Finish(ctx, tenantID, id, orderID, s.Clock())
	return settled, outcome.GetOrder(), err
}

// Outcome gives the link as it is once no claim of it is under way.
func (s *Saga) Outcome(ctx context.Context, link *rules.Link) (*rules.Link, error) {
	link, err := s.Links.Get(ctx, link.TenantID, link.Record.GetId())
	if err != nil {
		return nil, err
	}
	return s.unmarked(ctx, link)
}

// unmarked waits until no other claim is under way. One that has had its time is settled.
func (s *Saga) unmarked(ctx context.Context, link *rules.Link) (*rules.Link, error) {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	end := time.NewTimer(waitAtMost)
	defer end.Stop()
	for link.ClaimOrderID != nil {
		if link.ClaimStale {
			return s.Settle(ctx, link)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-end.C:
			return nil, problem.Unavailable()
		case <-tick.C:
		}
		var err error
		if link, err = s.Links.Get(ctx, link.TenantID, link.Record.GetId()); err != nil {
			return nil, err
		}
	}
	return link, nil
}
