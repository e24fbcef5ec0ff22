package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func approval(orderID string) *ordersv1.ApproveSandboxOrderRequest {
	return &ordersv1.ApproveSandboxOrderRequest{OrderId: orderID}
}

func TestAKeyApprovesAnOrderInTheSandbox(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeOne(t, newID())
	require.Equal(t, requestedStatus, order.GetStatus())
	resp, err := f.ApproveSandboxOrder(f.as(t, "a1"), approval(order.GetId()))
	require.NoError(t, err)
	got := resp.GetOrder()
	require.Equal(t, processingStatus, got.GetStatus())
	require.True(t, proto.Equal(got, f.read(t, order.GetId())))

	t.Run("its event is nobody's own, so the key receives it too", func(t *testing.T) {
		e := f.lastEvent(t)
		require.Equal(t, "order.status_changed", e.kind)
		require.Equal(t, "REQUESTED", e.data["previousStatus"])
		require.Zero(t, e.origin)
	})
	t.Run("a repetition is replayed and a second approval changes nothing", func(t *testing.T) {
		for _, key := range []string{"a1", "a2"} {
			again, err := f.ApproveSandboxOrder(f.as(t, key), approval(order.GetId()))
			require.NoError(t, err)
			require.True(t, proto.Equal(got, again.GetOrder()))
		}
		require.Len(t, f.eventsOf(t, order.GetId()), 2)
	})
	t.Run("the audit names the sandbox, each call once", func(t *testing.T) {
		entries := f.auditOf(t, order.GetId())
		require.Len(t, entries, 2)
		for _, e := range entries {
			require.Equal(t, commonv1.ActorKind_ACTOR_KIND_SYSTEM, e.GetActorKind())
			require.Equal(t, "Sandbox", e.GetActorId())
			require.Equal(t, ordersv1.Operation_OPERATION_APPROVE, e.GetOperation())
		}
	})
}

func TestAnApprovalInTheSandboxIsRefused(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order, sent := f.placeOne(t, newID()), f.in(t, sentStatus)
	for name, tc := range map[string]struct {
		order  string
		brands []string
		want   problem.Code
	}{
		"with the id of no order": {tenantID, nil, problem.NotFound},
		"with an invalid id":      {"1", nil, problem.NotFound},
		"out of the key's brands": {order.GetId(), []string{otherBrand}, problem.NotFound},
		"after dispatch":          {sent.GetId(), nil, problem.NotEditable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.ApproveSandboxOrder(f.as(t, name, tc.brands...), approval(tc.order))
			require.True(t, problem.Is(err, tc.want), "%v", err)
		})
	}
	_, err := f.ApproveSandboxOrder(f.as(t, "after dispatch"), approval(sent.GetId()))
	refused, _ := problem.As(err)
	require.Equal(t, "SENT", refused.CurrentStatus, "replayed")
	require.True(t, proto.Equal(order, f.read(t, order.GetId())))
}
