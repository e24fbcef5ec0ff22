package server

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
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

// ifReached decides only about an order of a brand that the key may see. For other orders it returns ErrNotFound.
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
		if answer, found, err := idempotency.Replay[R](ctx, s.Store.Pool()); found || err != nil {
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
	answer, err = store.ChangeOrder(ctx, s.Store, a)
	if errors.Is(err, store.ErrNotFound) {
		return answer, problem.RecordNotFound()
	}
	if err == nil && hold != "" {
		s.Reservations.Release(ctx, hold)
	}
	return answer, err
}

// CancelOrder cancels an order (API specification, POST /orders/{orderId}:cancel).
func (s *Server) CancelOrder(ctx context.Context, req *ordersv1.CancelOrderRequest) (*ordersv1.CancelOrderResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckCancelReason(req.GetReason(), errs)
	return changeAsKey(ctx, s, p, req.GetOrderId(), store.Action[*ordersv1.CancelOrderResponse]{
		Decide: func(current *rules.Current) (*rules.Change, error) {
			if err := errs.Err(); err != nil {
				return nil, err
			}
			return rules.CancelOrder(current, req.GetReason(), s.now())
		},
		Answer: func(record *ordersv1.Order) *ordersv1.CancelOrderResponse {
			return &ordersv1.CancelOrderResponse{Order: record}
		},
	})
}

// CancelOrderAs cancels an order for a person, for instance to refuse one that waits for approval.
func (s *Server) CancelOrderAs(ctx context.Context, req *ordersv1.CancelOrderAsRequest) (*ordersv1.CancelOrderAsResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckCancelReason(req.GetReason(), errs)
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_CANCEL, req, func(current *rules.Current) (*rules.Change, error) {
		return rules.CancelOrder(current, req.GetReason(), s.now())
	}, errs)
	return &ordersv1.CancelOrderAsResponse{Order: order}, err
}

// CorrectDelivery corrects the delivery details of an order for a person.
func (s *Server) CorrectDelivery(
	ctx context.Context, req *ordersv1.CorrectDeliveryRequest,
) (*ordersv1.CorrectDeliveryResponse, error) {
	correction := &ordersv1.UpdateDeliveryRequest{
		ExpectedVersion: req.ExpectedVersion, Recipient: req.GetRecipient(), CourierComment: req.CourierComment, Urgent: req.Urgent,
	}
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_CORRECT_DELIVERY, req,
		func(current *rules.Current) (*rules.Change, error) {
			if rules.IsCorrected(current, correction) { // Perhaps the call is a repetition.
				return nil, nil //nolint:nilnil // No change and no error.
			}
			return rules.CorrectDeliveryOf(current, correction, s.now(), &fields.Errors{})
		}, caller.RequestErrors(ctx))
	return &ordersv1.CorrectDeliveryResponse{Order: order}, err
}

// UpdateDelivery corrects the delivery details of an order (API specification, POST /orders/{orderId}:update-delivery).
func (s *Server) UpdateDelivery(
	ctx context.Context, req *ordersv1.UpdateDeliveryRequest,
) (*ordersv1.UpdateDeliveryResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	return changeAsKey(ctx, s, p, req.GetOrderId(), store.Action[*ordersv1.UpdateDeliveryResponse]{
		Decide: func(current *rules.Current) (*rules.Change, error) {
			return rules.CorrectDeliveryOf(current, req, s.now(), caller.RequestErrors(ctx))
		},
		Answer: func(record *ordersv1.Order) *ordersv1.UpdateDeliveryResponse {
			return &ordersv1.UpdateDeliveryResponse{Order: record}
		},
	})
}
