package server

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// changeAsKey runs the action for the calling key on an order that the key may see. It sets the tenant and the key of the
// action, and the condition of the request.
func changeAsKey[R proto.Message](
	ctx context.Context, s *Server, p caller.Principal, orderID string, a store.Action[R],
) (R, error) {
	decide, condition := a.Decide, caller.RequestFrom(ctx).IfMatch
	a.TenantID, a.OriginKeyID, a.Decide = p.TenantID, p.KeyID, ifReached(p, func(current *rules.Current) (*rules.Change, error) {
		current.IfMatch = condition
		return decide(current)
	})
	return changeOrder(ctx, s, orderID, a)
}

// ifReached decides only about an order of the key's brands. Others do not exist for the key.
func ifReached(
	p caller.Principal, decide func(current *rules.Current) (*rules.Change, error),
) func(current *rules.Current) (*rules.Change, error) {
	return func(current *rules.Current) (*rules.Change, error) {
		if !p.Reaches(current.Record.GetBrandId()) {
			return nil, store.ErrNotFound
		}
		return decide(current)
	}
}

// changeOrder runs the action, and then returns the stock that the order no longer needs.
func changeOrder[R proto.Message](ctx context.Context, s *Server, orderID string, a store.Action[R]) (answer R, err error) {
	id, ok := fields.ParseUUID(orderID)
	if !ok {
		if answer, found, err := idempotency.Replay[R](ctx, s.store.Pool()); found || err != nil {
			return answer, err
		}
		return answer, problem.RecordNotFound()
	}
	a.OrderID = id
	var hold string
	decide := a.Decide
	a.Decide = func(current *rules.Current) (*rules.Change, error) {
		change, err := decide(current)
		// Decide may run more than once; the last attempt counts.
		hold = ""
		if change != nil && change.ReleaseStock {
			hold = current.StockHold
		}
		return change, err
	}
	answer, err = store.ChangeOrder(ctx, s.store, a)
	if errors.Is(err, store.ErrNotFound) {
		return answer, problem.RecordNotFound()
	}
	if err == nil && hold != "" {
		s.reservations.Release(ctx, hold)
	}
	return answer, err
}
