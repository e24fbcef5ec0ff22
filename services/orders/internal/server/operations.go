package server

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// operationRequest has the fields of every request of OrderOperationsService on one order.
type operationRequest interface {
	GetActor() *commonv1.Actor
	GetTenantId() string
	GetOrderId() string
}

// operate changes an order for a person or a system. The change and its audit row commit in one transaction. A call that
// changes nothing is audited too.
func (s *Server) operate(
	ctx context.Context, op ordersv1.Operation, req operationRequest, decide func(current *rules.Current) (*rules.Change, error),
	errs *fields.Errors,
) (*ordersv1.Order, error) {
	a, err := s.admit(ctx, op, req, errs)
	if err != nil {
		return nil, err
	}
	return s.changeAudited(ctx, a, decide)
}

// admit checks the actor and the ids, reports their errors together with errs, and refuses an actor who may not run the
// operation.
func (s *Server) admit(ctx context.Context, op ordersv1.Operation, req operationRequest, errs *fields.Errors) (rules.Audit, error) {
	caller.CheckActor(req.GetActor(), errs)
	a := rules.Audit{
		TenantID:  errs.RequiredUUID("tenantId", req.GetTenantId()),
		OrderID:   errs.RequiredUUID("orderId", req.GetOrderId()),
		Actor:     req.GetActor(),
		Operation: op,
	}
	if err := errs.Err(); err != nil {
		return a, err
	}
	return a, s.permit(ctx, a)
}

func (s *Server) permit(ctx context.Context, a rules.Audit) error {
	return s.Tenants.Permit(ctx, a.TenantID, a.Actor, rules.PermissionOf(a.Operation))
}

func (s *Server) changeAudited(
	ctx context.Context, a rules.Audit, decide func(current *rules.Current) (*rules.Change, error),
) (*ordersv1.Order, error) {
	return changeOrder(ctx, s, a.OrderID, auditedAction(a, decide))
}

// auditedAction adds the audit row of an operation to its change.
func auditedAction(
	a rules.Audit, decide func(current *rules.Current) (*rules.Change, error),
) store.Action[*ordersv1.Order] {
	return store.Action[*ordersv1.Order]{
		TenantID: a.TenantID,
		Decide: func(current *rules.Current) (*rules.Change, error) {
			change, err := decide(current)
			if change == nil && err == nil {
				change = &rules.Change{}
			}
			return change, err
		},
		WriteMore: func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
			store.QueueAudit(b, a, before.Record, change.After(before))
		},
		Answer: func(record *ordersv1.Order) *ordersv1.Order { return record },
	}
}
