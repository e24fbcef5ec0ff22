package server

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// sandboxID is the id of who acts in the sandbox. No caller can use it as a system: a system that calls the operations plane has
// no id.
const sandboxID = "Sandbox"

// sandboxAudit is an operation in the sandbox, for its row in the audit.
func sandboxAudit(op ordersv1.Operation, tenantID, orderID string) rules.Audit {
	system := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM, Id: sandboxID}
	return rules.Audit{TenantID: tenantID, OrderID: orderID, Actor: system, Operation: op}
}

// operateInSandbox runs an operation of people on an order of the key's brands. The change is not the key's own, so the key
// receives its event by webhook. decide adds the errors that it finds in the request to errs.
func (s *Server) operateInSandbox(
	ctx context.Context, op ordersv1.Operation, orderID string,
	decide func(current *rules.Current, errs *fields.Errors) (*rules.Change, error),
) (*ordersv1.Order, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	return s.changeAudited(ctx, sandboxAudit(op, p.TenantID, orderID), ifReached(p,
		func(current *rules.Current) (*rules.Change, error) {
			return decide(current, caller.RequestErrors(ctx))
		}))
}

// withoutMembers is a decision about a request that has no members to check.
func withoutMembers(
	decide func(current *rules.Current) (*rules.Change, error),
) func(current *rules.Current, errs *fields.Errors) (*rules.Change, error) {
	return func(current *rules.Current, errs *fields.Errors) (*rules.Change, error) {
		if err := errs.Err(); err != nil {
			return nil, err
		}
		return decide(current)
	}
}

// ApproveSandboxOrder approves a requested order.
func (s *Server) ApproveSandboxOrder(
	ctx context.Context, req *ordersv1.ApproveSandboxOrderRequest,
) (*ordersv1.ApproveSandboxOrderResponse, error) {
	order, err := s.operateInSandbox(ctx, ordersv1.Operation_OPERATION_APPROVE, req.GetOrderId(), withoutMembers(s.approve))
	return &ordersv1.ApproveSandboxOrderResponse{Order: order}, err
}

// DispatchSandboxOrder marks an order as sent. What the request does not say about the shipment is made up.
func (s *Server) DispatchSandboxOrder(
	ctx context.Context, req *ordersv1.DispatchSandboxOrderRequest,
) (*ordersv1.DispatchSandboxOrderResponse, error) {
	order, err := s.operateInSandbox(ctx, ordersv1.Operation_OPERATION_DISPATCH, req.GetOrderId(),
		func(current *rules.Current, errs *fields.Errors) (*rules.Change, error) {
			shipment := rules.SandboxShipment(current.Record.GetId(), req, errs)
			if err := errs.Err(); err != nil {
				return nil, err
			}
			return rules.DispatchOrder(current, shipment, s.now())
		})
	return &ordersv1.DispatchSandboxOrderResponse{Order: order}, err
}

// DeliverSandboxOrder completes an order that was sent.
func (s *Server) DeliverSandboxOrder(
	ctx context.Context, req *ordersv1.DeliverSandboxOrderRequest,
) (*ordersv1.DeliverSandboxOrderResponse, error) {
	order, err := s.operateInSandbox(ctx, ordersv1.Operation_OPERATION_DELIVER, req.GetOrderId(), withoutMembers(s.deliver))
	return &ordersv1.DeliverSandboxOrderResponse{Order: order}, err
}

// CorrectSandboxTracking replaces the shipment of a sent order.
func (s *Server) CorrectSandboxTracking(
	ctx context.Context, req *ordersv1.CorrectSandboxTrackingRequest,
) (*ordersv1.CorrectSandboxTrackingResponse, error) {
	order, err := s.operateInSandbox(ctx, ordersv1.Operation_OPERATION_CORRECT_TRACKING, req.GetOrderId(),
		func(current *rules.Current, errs *fields.Errors) (*rules.Change, error) {
			shipment := rules.SandboxCorrection(current.Record, req, errs)
			if err := errs.Err(); err != nil {
				return nil, err
			}
			return rules.CorrectShipment(current, shipment, s.now())
		})
	return &ordersv1.CorrectSandboxTrackingResponse{Order: order}, err
}

// CorrectSandboxStatus sets any status. Before it may reserve stock, it looks for the answer to an earlier request, and for the
// order among those of the key's brands.
func (s *Server) CorrectSandboxStatus(
	ctx context.Context, req *ordersv1.CorrectSandboxStatusRequest,
) (*ordersv1.CorrectSandboxStatusResponse, error) {
	order, found, err := idempotency.Replay[*ordersv1.Order](ctx, s.Store.Pool())
	if found && err == nil {
		return &ordersv1.CorrectSandboxStatusResponse{Order: order}, nil
	}
	if err != nil {
		return nil, err
	}
	visible, err := s.GetOrder(ctx, &ordersv1.GetOrderRequest{OrderId: req.GetOrderId()})
	if err != nil {
		return nil, err
	}
	errs, reason := caller.RequestErrors(ctx), ""
	if req.GetStatus() == ordersv1.OrderStatus_ORDER_STATUS_CANCELLED {
		reason = "Cancelled in the sandbox."
	}
	rules.CheckStatusCorrection(req.GetStatus(), reason, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	a := sandboxAudit(ordersv1.Operation_OPERATION_CORRECT_STATUS, p.TenantID, visible.GetOrder().GetId())
	order, err = s.correctStatus(ctx, a, req.GetStatus(), reason)
	return &ordersv1.CorrectSandboxStatusResponse{Order: order}, err
}

// PostSandboxMessage posts a message as the service operator.
func (s *Server) PostSandboxMessage(
	ctx context.Context, req *ordersv1.PostSandboxMessageRequest,
) (*ordersv1.PostSandboxMessageResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckMessageBody(req.GetBody(), errs)
	clerk := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: sandboxID}
	message := rules.NewActorMessage(uuid.Must(uuid.NewV7()).String(), clerk, s.OperatorName, req.GetBody())
	action := store.Action[*ordersv1.PostSandboxMessageResponse]{
		TenantID: p.TenantID,
		Answer: func(*ordersv1.Order) *ordersv1.PostSandboxMessageResponse {
			return &ordersv1.PostSandboxMessageResponse{Id: message.Record.GetId()}
		},
	}.WithMessage(s.Store, message, errs.Err, s.now)
	action.Decide = ifReached(p, action.Decide)
	post := action.WriteMore
	action.WriteMore = func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
		post(b, before, change)
		a := sandboxAudit(ordersv1.Operation_OPERATION_POST_MESSAGE, p.TenantID, before.Record.GetId())
		store.QueueAudit(b, a, before.Record, before.Record)
	}
	return changeOrder(ctx, s, req.GetOrderId(), action)
}

// autoAdvanceOf returns how the order is to advance by itself, and adds an error in it to errs. In production it never does.
func (s *Server) autoAdvanceOf(req *ordersv1.PlaceOrderRequest, errs *fields.Errors) *rules.AutoAdvance {
	if !s.Sandbox {
		return nil
	}
	return rules.AutoAdvanceOf(req.GetExternalActionRef(), errs)
}

// announceAutoAdvance says in the answer, also in a stored one, that the placed order advances by itself.
func (s *Server) announceAutoAdvance(ctx context.Context, order *ordersv1.Order) {
	if !s.Sandbox || rules.AutoAdvanceOf(order.GetExternalActionRef(), &fields.Errors{}) == nil {
		return
	}
	// It fails only outside of a gRPC call, as in a test.
	_ = grpc.SetHeader(ctx, metadata.Pairs(caller.SandboxHeader, "auto"))
	s.WakeAutoAdvance()
}

// Advance takes the due step of an order that advances by itself. The step, its event and the due time of the next step commit
// together. Of two concurrent calls, the second finds that the step is not due any more. After a step of someone else, the order
// advances from the status that it then has.
func (s *Server) Advance(ctx context.Context, due store.Due) error {
	var pace *rules.AutoAdvance
	var op ordersv1.Operation
	_, err := store.ChangeOrder(ctx, s.Store, store.Action[*ordersv1.Order]{
		TenantID: due.TenantID,
		OrderID:  due.OrderID,
		ReadMore: func(b *pgx.Batch, tenantID, orderID string) { store.QueueFindAutoAdvance(b, tenantID, orderID, &pace) },
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
		WriteMore: func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
			if change.Record != nil {
				store.QueueAudit(b, sandboxAudit(op, due.TenantID, due.OrderID), before.Record, change.Record)
			}
			store.QueueMoveAutoAdvance(b, due.TenantID, due.OrderID, pace.Ends(change.After(before).GetStatus()))
		},
		Answer: func(record *ordersv1.Order) *ordersv1.Order { return record },
	})
	if errors.Is(err, store.ErrNotFound) {
		return s.Store.EndAutoAdvance(ctx, due) // The order was erased with its tenant.
	}
	return err
}
