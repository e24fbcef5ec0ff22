package server

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/actor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// Operations implements the operations plane of orders. Every call it accepts leaves a row in the
// audit, in the transaction of what it does.
type Operations struct {
	ordersv1.UnimplementedOrderOperationsServiceServer

	// Orders is the public plane, whose rules and means this one shares.
	Orders *Server
	// OperatorName signs what the operator's team writes.
	OperatorName string
}

// call is what every request of an operation on one order holds.
type call interface {
	GetActor() *commonv1.Actor
	GetTenantId() string
	GetOrderId() string
}

// admit checks what every operation on one order is told, together with the faults in errs, and
// that the actor may run it.
func (o *Operations) admit(ctx context.Context, op ordersv1.Operation, req call, errs *fields.Errors) (rules.Audit, error) {
	actor.Check(req.GetActor(), errs)
	a := rules.Audit{
		TenantID:  requiredUUID(errs, "tenantId", req.GetTenantId()),
		OrderID:   requiredUUID(errs, "orderId", req.GetOrderId()),
		Actor:     req.GetActor(),
		Operation: op,
	}
	if err := errs.Err(); err != nil {
		return a, err
	}
	return a, o.permit(ctx, a)
}

// permit looks a member of the team up as it is now: who lost a role loses it at once.
func (o *Operations) permit(ctx context.Context, a rules.Audit) error {
	var team []*tenantsv1.TeamMember
	if a.Actor.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT {
		settings, err := o.Orders.Tenants.Fresh(ctx, a.TenantID)
		if err != nil {
			return err
		}
		team = settings.GetTeam()
	}
	return rules.Permit(a.Operation, a.Actor, team)
}

// change runs an operation on an order. One that changes nothing is audited all the same.
func (o *Operations) change(
	ctx context.Context, a rules.Audit, decide func(current *rules.Current) (*rules.Change, error),
) (*ordersv1.Order, error) {
	return changeOrder(ctx, o.Orders, a.OrderID, store.Action[*ordersv1.Order]{
		TenantID: a.TenantID,
		Decide: func(current *rules.Current) (*rules.Change, error) {
			change, err := decide(current)
			if change == nil && err == nil {
				change = &rules.Change{}
			}
			return change, err
		},
		Also: func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
			store.QueueAudit(b, a, before.Record, changed(before, change))
		},
		Answer: func(record *ordersv1.Order) *ordersv1.Order { return record },
	})
}

func changed(before *rules.Current, change *rules.Change) *ordersv1.Order {
	if change.Record != nil {
		return change.Record
	}
	return before.Record
}

func requiredUUID(errs *fields.Errors, field, value string) string {
	if fields.Blank(value) {
		errs.Add(field, problem.FieldRequired, "is required")
		return ""
	}
	return errs.UUID(field, value)
}
