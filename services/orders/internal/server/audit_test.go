package server_test

import (
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
	const none = ordersv1.OrderStatus(0)
	steps := []struct {
		op            ordersv1.Operation
		actor         *commonv1.Actor
		before, after ordersv1.OrderStatus
		changes       bool
	}{
		{ordersv1.Operation_OPERATION_PLACE, person(aMember), none, requestedStatus, true},
		{ordersv1.Operation_OPERATION_APPROVE, person(anAdministrator), requestedStatus, processingStatus, true},
		{ordersv1.Operation_OPERATION_APPROVE, person(aCoordinator), processingStatus, processingStatus, false},
		{ordersv1.Operation_OPERATION_CORRECT_DELIVERY, person(aMember), processingStatus, processingStatus, true},
		{ordersv1.Operation_OPERATION_DISPATCH, theSystem(), processingStatus, sentStatus, true},
		{ordersv1.Operation_OPERATION_CORRECT_TRACKING, operator(), sentStatus, sentStatus, true},
		{ordersv1.Operation_OPERATION_DELIVER, operator(), sentStatus, completedStatus, true},
		{ordersv1.Operation_OPERATION_CORRECT_STATUS, operator(), completedStatus, requestedStatus, true},
		{ordersv1.Operation_OPERATION_POST_MESSAGE, aClient(), requestedStatus, requestedStatus, false},
		{ordersv1.Operation_OPERATION_ADD_NOTE, operator(), requestedStatus, requestedStatus, false},
		{ordersv1.Operation_OPERATION_LIST_CONVERSATION, person(aMember), requestedStatus, requestedStatus, false},
		{ordersv1.Operation_OPERATION_READ, person(aMember), requestedStatus, requestedStatus, false},
		{ordersv1.Operation_OPERATION_CANCEL, person(anAdministrator), requestedStatus, cancelledStatus, true},
		{ordersv1.Operation_OPERATION_ERASE_PERSONAL_DATA, operator(), cancelledStatus, cancelledStatus, true},
		{ordersv1.Operation_OPERATION_EXPORT_PERSONAL_DATA, operator(), cancelledStatus, cancelledStatus, false},
		{ordersv1.Operation_OPERATION_LIST_AUDIT, person(anAdministrator), cancelledStatus, cancelledStatus, false},
	}
	audited := map[ordersv1.Operation]bool{ordersv1.Operation_OPERATION_UNSPECIFIED: true, ordersv1.Operation_OPERATION_SEARCH: true}
	for _, s := range steps {
		require.NoError(t, f.operate(ctx, s.op, s.actor, &ordersv1.Order{Id: id, Version: 1}), s.op.String())
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
		if s.actor.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT {
			require.Empty(t, e.GetActorId(), s.op)
		} else {
			require.Equal(t, s.actor.GetId(), e.GetActorId(), s.op)
		}
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
		require.Equal(t, 1, f.count(t, "order_audit WHERE operation = 'SEARCH' AND actor_id = 'staff-1'"))
	})
	t.Run("the audit is read in pages", func(t *testing.T) {
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

func TestTheAuditCannotBeChanged(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.placeInStatus(t, processingStatus)
	for _, statement := range []string{
		"UPDATE order_audit SET actor_id = 'somebody else'", "DELETE FROM order_audit", "TRUNCATE order_audit",
	} {
		_, err := f.pool.Exec(t.Context(), statement)
		require.ErrorContains(t, err, "append-only", statement)
	}
}
