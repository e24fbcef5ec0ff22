package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// sandboxActor acts in the audit for what an API key does as people do it. No caller can name it: a system that calls the
// operations plane has no id.
func sandboxActor() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM, Id: "Sandbox"}
}

// operateInSandbox runs an operation of people on an order of the key's brands. The change is not the key's own, so the key
// receives its event by webhook.
func (s *Server) operateInSandbox(
	ctx context.Context, op ordersv1.Operation, orderID string, decide func(current *rules.Current) (*rules.Change, error),
) (*ordersv1.Order, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := fields.FromContext(ctx)
	a := rules.Audit{TenantID: p.TenantID, OrderID: orderID, Actor: sandboxActor(), Operation: op}
	return s.changeAudited(ctx, a, ifReached(p, func(current *rules.Current) (*rules.Change, error) {
		if err := errs.Err(); err != nil {
			return nil, err
		}
		return decide(current)
	}))
}

// ApproveSandboxOrder approves a requested order.
func (s *Server) ApproveSandboxOrder(
	ctx context.Context, req *ordersv1.ApproveSandboxOrderRequest,
) (*ordersv1.ApproveSandboxOrderResponse, error) {
	order, err := s.operateInSandbox(ctx, ordersv1.Operation_OPERATION_APPROVE, req.GetOrderId(), s.approve)
	if err != nil {
		return nil, err
	}
	return &ordersv1.ApproveSandboxOrderResponse{Order: order}, nil
}
