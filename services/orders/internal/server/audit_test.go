package server_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// TestEveryOperationIsAudited runs one of each and finds each in the audit: who, what, before, after.
func TestEveryOperationIsAudited(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	ctx, id := t.Context(), newID()
	type step struct {
		op            ordersv1.Operation
		actor         *commonv1.Actor
		before, after ordersv1.OrderStatus
		changes       bool
		act           func(ctx context.Context, a *commonv1.Actor) error
	}
	const none = ordersv1.OrderStatus(0)
	steps := []step{
		{ordersv1.Operation_OPERATION_PLACE, person(aMember), none, requestedStatus, true, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.PlaceOrderAs(ctx, &ordersv1.PlaceOrderAsRequest{Actor: a, TenantId: tenantID, OrderId: id, Order: request("")})
			return err
		}},
		{ordersv1.Operation_OPERATION_APPROVE, person(anAdministrator), requestedStatus, processingStatus, true, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.ApproveOrder(ctx, &ordersv1.ApproveOrderRequest{Actor: a, TenantId: tenantID, OrderId: id})
			return err
		}},
		{ordersv1.Operation_OPERATION_APPROVE, person(aCoordinator), processingStatus, processingStatus, false, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.ApproveOrder(ctx, &ordersv1.ApproveOrderRequest{Actor: a, TenantId: tenantID, OrderId: id})
			return err
		}},
		{ordersv1.Operation_OPERATION_CORRECT_DELIVERY, person(aMember), processingStatus, processingStatus, true, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.CorrectDelivery(ctx, &ordersv1.CorrectDeliveryRequest{
				Actor: a, TenantId: tenantID, OrderId: id, ExpectedVersion: new(int64(1)), Urgent: new(true),
			})
			return err
		}},
		{ordersv1.Operation_OPERATION_DISPATCH, theSystem(), processingStatus, sentStatus, true, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.DispatchOrder(ctx, &ordersv1.DispatchOrderRequest{Actor: a, TenantId: tenantID, OrderId: id, Shipment: parcel("T-1")})
			return err
		}},
		{ordersv1.Operation_OPERATION_CORRECT_TRACKING, operator(), sentStatus, sentStatus, true, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.CorrectTracking(ctx, &ordersv1.CorrectTrackingRequest{Actor: a, TenantId: tenantID, OrderId: id, Shipment: parcel("T-2")})
			return err
		}},
		{ordersv1.Operation_OPERATION_DELIVER, operator(), sentStatus, completedStatus, true, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.DeliverOrder(ctx, &ordersv1.DeliverOrderRequest{Actor: a, TenantId: tenantID, OrderId: id})
			return err
		}},
		{ordersv1.Operation_OPERATION_CORRECT_STATUS, operator(), completedStatus, requestedStatus, true, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.CorrectStatus(ctx, &ordersv1.CorrectStatusRequest{Actor: a, TenantId: tenantID, OrderId: id, Status: requestedStatus})
			return err
		}},
		{ordersv1.Operation_OPERATION_POST_MESSAGE, aClient(), requestedStatus, requestedStatus, false, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.PostMessageAs(ctx, &ordersv1.PostMessageAsRequest{Actor: a, TenantId: tenantID, OrderId: id, MessageId: newID(), Body: "x"})
			return err
		}},
		{ordersv1.Operation_OPERATION_ADD_NOTE, operator(), requestedStatus, requestedStatus, false, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.AddInternalNote(ctx, &ordersv1.AddInternalNoteRequest{Actor: a, TenantId: tenantID, OrderId: id, MessageId: newID(), Body: "x"})
			return err
		}},
		{ordersv1.Operation_OPERATION_LIST_CONVERSATION, person(aMember), requestedStatus, requestedStatus, false, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.ListConversation(ctx, &ordersv1.ListConversationRequest{Actor: a, TenantId: tenantID, OrderId: id})
			return err
		}},
		{ordersv1.Operation_OPERATION_READ, person(aMember), requestedStatus, requestedStatus, false, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.ReadOrder(ctx, &ordersv1.ReadOrderRequest{Actor: a, TenantId: tenantID, OrderId: id})
			return err
		}},
		{ordersv1.Operation_OPERATION_CANCEL, person(anAdministrator), requestedStatus, cancelledStatus, true, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.CancelOrderAs(ctx, &ordersv1.CancelOrderAsRequest{Actor: a, TenantId: tenantID, OrderId: id, Reason: "refused"})
			return err
		}},
		{ordersv1.Operation_OPERATION_LIST_AUDIT, person(anAdministrator), cancelledStatus, cancelledStatus, false, func(ctx context.Context, a *commonv1.Actor) error {
			_, err := f.ListAudit(ctx, &ordersv1.ListAuditRequest{Actor: a, TenantId: tenantID, OrderId: id})
			return err
		}},
	}
	audited := map[ordersv1.Operation]bool{ordersv1.Operation_OPERATION_UNSPECIFIED: true, ordersv1.Operation_OPERATION_SEARCH: true}
	for _, s := range steps {
		require.NoError(t, s.act(ctx, s.actor), s.op.String())
		audited[s.op] = true
	}
	for number, name := range ordersv1.Operation_name {
		require.True(t, audited[ordersv1.Operation(number)], name)
	}
	entries := f.auditOf(t, id)
	require.Len(t, entries, len(steps))
	version := int64(-1)
	for i, s := range steps {
		e := entries[i]
		require.Equal(t, s.op, e.GetOperation())
		require.Equal(t, s.actor.GetKind(), e.GetActorKind(), s.op)
		require.Equal(t, s.actor.GetId(), e.GetActorId(), s.op)
		require.Equal(t, s.before, e.GetStatusBefore(), s.op)
		require.Equal(t, s.after, e.GetStatusAfter(), s.op)
		if s.changes {
			version++
		}
		require.Equal(t, version, e.GetVersionAfter(), s.op)
		require.Equal(t, i == 0, e.VersionBefore == nil)
	}
	require.Len(t, f.eventsOf(t, id), int(version)+1+1, "one for each version and one for the message")

	t.Run("a search too, though it names no order", func(t *testing.T) {
		_, err := f.SearchOrders(ctx, &ordersv1.SearchOrdersRequest{Actor: operator(), Status: cancelledStatus.Enum()})
		require.NoError(t, err)
		var found int
		require.NoError(t, f.pool.QueryRow(ctx, "SELECT count(*) FROM order_audit WHERE operation = 'SEARCH' AND actor_id = 'staff-1'").Scan(&found))
		require.Equal(t, 1, found)
	})
	t.Run("it is read in pages", func(t *testing.T) {
		var paged []*ordersv1.AuditEntry
		var token *string
		for {
			resp, err := f.ListAudit(ctx, &ordersv1.ListAuditRequest{
				Actor: operator(), TenantId: tenantID, OrderId: id, Limit: new(int32(4)), After: token,
			})
			require.NoError(t, err)
			paged = append(paged, resp.GetEntries()...)
			if token = resp.NextCursor; token == nil {
				break
			}
		}
		require.Greater(t, len(paged), len(steps))
		for i := range steps {
			require.True(t, proto.Equal(entries[i], paged[i]), "entry %d", i)
		}
		_, err := f.ListAudit(ctx, &ordersv1.ListAuditRequest{
			Actor: operator(), TenantId: tenantID, OrderId: id, After: new("no token"), Limit: new(int32(101)),
		})
		require.True(t, problem.Is(err, problem.InvalidRequest))
	})
}

func TestTheAuditOnlyGrows(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.in(t, processingStatus)
	before := f.auditOf(t, order.GetId())
	for _, statement := range []string{
		"UPDATE order_audit SET actor_id = 'somebody else'", "DELETE FROM order_audit", "TRUNCATE order_audit",
	} {
		_, err := f.pool.Exec(t.Context(), statement)
		require.ErrorContains(t, err, "append-only", statement)
	}
	after := f.auditOf(t, order.GetId())
	for i := range before {
		require.True(t, proto.Equal(before[i], after[i]), fmt.Sprint(i))
	}
}
