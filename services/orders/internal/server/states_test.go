package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// cell is the outcome of an action: the next status and the recorded event, or a problem.
type cell struct {
	status ordersv1.OrderStatus
	event  string
	code   problem.Code
}

const (
	changed = "order.status_changed"
	updated = "order.updated"
	posted  = "order.message_posted"
)

func becomes(s ordersv1.OrderStatus) cell { return cell{status: s, event: changed} }
func refused(c problem.Code) cell         { return cell{code: c} }

// stays is a cell that keeps the status; event may be empty.
func stays(event string) cell { return cell{event: event} }

// TestEveryActionInEveryStatus compares both planes with a copy of the specification's tables.
func TestEveryActionInEveryStatus(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	no, noCancel := refused(problem.NotEditable), refused(problem.NotCancellable)
	all := func(c cell) [5]cell { return [5]cell{c, c, c, c, c} }
	type action func(ctx context.Context, o *ordersv1.Order) error
	as := func(op ordersv1.Operation, a *commonv1.Actor) action {
		return func(ctx context.Context, o *ordersv1.Order) error { return f.operate(ctx, op, a, o) }
	}
	for name, tc := range map[string]struct {
		act action
		// One per status: REQUESTED, PROCESSING, SENT, COMPLETED, CANCELLED.
		want [5]cell
	}{
		"read by a key": {func(ctx context.Context, o *ordersv1.Order) error {
			_, err := f.GetOrder(ctx, &ordersv1.GetOrderRequest{OrderId: o.GetId()})
			return err
		}, all(stays(""))},
		"correct delivery by a key": {func(ctx context.Context, o *ordersv1.Order) error {
			_, err := f.UpdateDelivery(ctx, &ordersv1.UpdateDeliveryRequest{
				OrderId: o.GetId(), ExpectedVersion: new(o.GetVersion()), Urgent: new(true),
			})
			return err
		}, [5]cell{no, stays(updated), no, no, no}},
		"cancel by a key": {func(ctx context.Context, o *ordersv1.Order) error {
			_, err := f.CancelOrder(ctx, &ordersv1.CancelOrderRequest{OrderId: o.GetId(), Reason: "x"})
			return err
		}, [5]cell{becomes(cancelledStatus), becomes(cancelledStatus), noCancel, noCancel, stays("")}},
		"message by a key": {func(ctx context.Context, o *ordersv1.Order) error {
			_, err := f.PostOrderMessage(ctx, &ordersv1.PostOrderMessageRequest{OrderId: o.GetId(), Body: "x"})
			return err
		}, all(stays(posted))},
		"approve": {
			as(ordersv1.Operation_OPERATION_APPROVE, person(anAdministrator)), [5]cell{becomes(processingStatus), stays(""), no, no, no},
		},
		"dispatch": {as(ordersv1.Operation_OPERATION_DISPATCH, operator()), [5]cell{no, becomes(sentStatus), no, no, no}},
		"dispatch with the shipment it has": {func(ctx context.Context, o *ordersv1.Order) error {
			_, err := f.DispatchOrder(ctx, &ordersv1.DispatchOrderRequest{
				Actor: operator(), TenantId: tenantID, OrderId: o.GetId(), Shipment: parcel("T-1"),
			})
			return err
		}, [5]cell{no, becomes(sentStatus), stays(""), no, no}},
		"deliver": {
			as(ordersv1.Operation_OPERATION_DELIVER, operator()), [5]cell{no, no, becomes(completedStatus), stays(""), no},
		},
		"cancel": {
			as(ordersv1.Operation_OPERATION_CANCEL, person(aMember)),
			[5]cell{becomes(cancelledStatus), becomes(cancelledStatus), noCancel, noCancel, stays("")},
		},
		"correct tracking": {as(ordersv1.Operation_OPERATION_CORRECT_TRACKING, operator()), [5]cell{no, no, stays(updated), no, no}},
		"correct tracking to the same value": {func(ctx context.Context, o *ordersv1.Order) error {
			_, err := f.CorrectTracking(ctx, &ordersv1.CorrectTrackingRequest{
				Actor: operator(), TenantId: tenantID, OrderId: o.GetId(), Shipment: parcel("T-1"),
			})
			return err
		}, [5]cell{no, no, stays(""), no, no}},
		"correct delivery": {
			as(ordersv1.Operation_OPERATION_CORRECT_DELIVERY, person(aMember)), [5]cell{no, stays(updated), no, no, no},
		},
		"message":               {as(ordersv1.Operation_OPERATION_POST_MESSAGE, operator()), all(stays(posted))},
		"note":                  {as(ordersv1.Operation_OPERATION_ADD_NOTE, operator()), all(stays(""))},
		"read":                  {as(ordersv1.Operation_OPERATION_READ, operator()), all(stays(""))},
		"list the conversation": {as(ordersv1.Operation_OPERATION_LIST_CONVERSATION, operator()), all(stays(""))},
		"erase personal data": {
			as(ordersv1.Operation_OPERATION_ERASE_PERSONAL_DATA, operator()), [5]cell{no, no, no, stays(updated), stays(updated)},
		},
		"export personal data": {as(ordersv1.Operation_OPERATION_EXPORT_PERSONAL_DATA, operator()), all(stays(""))},
		"list the audit":       {as(ordersv1.Operation_OPERATION_LIST_AUDIT, operator()), all(stays(""))},
	} {
		for i, status := range rules.Statuses() {
			t.Run(name+" when "+enumname.String(status), func(t *testing.T) {
				before := f.in(t, status)
				err := tc.act(f.as(t, newID()), before)
				f.requireCell(t, tc.want[i], before, err)
			})
		}
	}
}

func (f *fixture) requireCell(t *testing.T, want cell, before *ordersv1.Order, err error) {
	t.Helper()
	after, events := f.read(t, before.GetId()), f.eventsOf(t, before.GetId())
	last := events[len(events)-1]
	recorded := len(events) - recordedBefore(before)
	if want.code != "" {
		p, ok := problem.As(err)
		require.True(t, ok, "%v", err)
		require.Equal(t, want.code, p.Code)
		require.Equal(t, enumname.String(before.GetStatus()), p.CurrentStatus)
		require.True(t, proto.Equal(before, after))
		require.Zero(t, recorded)
		return
	}
	require.NoError(t, err)
	switch want.event {
	case "", posted:
		require.True(t, proto.Equal(before, after), "neither version nor time changes")
	default:
		require.Equal(t, before.GetVersion()+1, after.GetVersion())
		require.True(t, after.GetUpdatedAt().AsTime().After(before.GetUpdatedAt().AsTime()))
	}
	if want.event == "" {
		require.Zero(t, recorded)
		return
	}
	require.Equal(t, 1, recorded)
	require.Equal(t, want.event, last)
	if want.status == 0 {
		want.status = before.GetStatus()
	}
	require.Equal(t, want.status, after.GetStatus())
	if want.event == changed {
		require.Equal(t, enumname.String(before.GetStatus()), f.lastEvent(t).data["previousStatus"])
	}
}

// recordedBefore is how many events the order has: one for each version.
func recordedBefore(o *ordersv1.Order) int { return int(o.GetVersion()) + 1 }
