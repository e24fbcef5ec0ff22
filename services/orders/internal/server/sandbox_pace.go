package server

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// autoAdvanceOf returns how the order is to go on by itself, and adds an error in it to errs. In production it never does.
func (s *Server) autoAdvanceOf(req *ordersv1.PlaceOrderRequest, errs *fields.Errors) *rules.AutoAdvance {
	if !s.sandbox {
		return nil
	}
	return rules.AutoAdvanceOf(req.GetExternalActionRef(), errs)
}

// announceAutoAdvance says in the answer, also in a stored one, that the placed order goes on by itself.
func (s *Server) announceAutoAdvance(ctx context.Context, order *ordersv1.Order) {
	if !s.sandbox || rules.AutoAdvanceOf(order.GetExternalActionRef(), &fields.Errors{}) == nil {
		return
	}
	// It fails only outside of a gRPC call, as in a test.
	_ = grpc.SetHeader(ctx, metadata.Pairs(caller.SandboxHeader, "auto"))
	s.wakeAutoAdvance()
}

// Advance takes the due step of an order that goes on by itself. The step, its event and when the next step is due commit together.
// Of two calls at once, the second finds that the step is not due any more. After a step of someone else, the order goes on from
// the status that it then has.
func (s *Server) Advance(ctx context.Context, due store.Due) error {
	var pace *rules.AutoAdvance
	var op ordersv1.Operation
	_, err := store.ChangeOrder(ctx, s.store, store.Action[*ordersv1.Order]{
		TenantID: due.TenantID,
		OrderID:  due.OrderID,
		Read:     func(b *pgx.Batch, tenantID, orderID string) { store.QueueFindAutoAdvance(b, tenantID, orderID, &pace) },
		Decide: func(current *rules.Current) (change *rules.Change, err error) {
			switch {
			case pace == nil:
				return nil, nil //nolint:nilnil // No change and no error.
			case pace.Ends(current.Record.GetStatus()):
				return &rules.Change{}, nil
			}
			change, op, err = current.Advance(s.now())
			return change, err
		},
		Also: func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
			if change.Record != nil {
				store.QueueAudit(b, sandboxAudit(op, due.TenantID, due.OrderID), before.Record, change.Record)
			}
			store.QueueMoveAutoAdvance(b, due.TenantID, due.OrderID, pace.Ends(change.After(before).GetStatus()))
		},
		Answer: func(record *ordersv1.Order) *ordersv1.Order { return record },
	})
	if errors.Is(err, store.ErrNotFound) {
		return s.store.EndAutoAdvance(ctx, due) // The order was erased with its tenant.
	}
	return err
}
