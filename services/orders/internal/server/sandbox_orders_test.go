package server_test

import (
	"strings"
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
	var approved *ordersv1.Order
	for _, key := range []string{"a1", "a1", "a2"} { // A repetition is replayed, and a second approval changes nothing.
		resp, err := f.ApproveSandboxOrder(f.keyContext(t, key), approval(order.GetId()))
		require.NoError(t, err)
		require.True(t, approved == nil || proto.Equal(approved, resp.GetOrder()))
		approved = resp.GetOrder()
	}
	require.Equal(t, processingStatus, approved.GetStatus())
	require.Len(t, f.eventsOf(t, order.GetId()), 2)
	require.Zero(t, f.lastEvent(t).origin, "no key made the change, so the key receives the event too")
	entries := f.auditOf(t, order.GetId())
	require.Len(t, entries, 2, "each call once")
	for _, e := range entries {
		require.Equal(t, commonv1.ActorKind_ACTOR_KIND_SYSTEM, e.GetActorKind())
		require.Equal(t, "Sandbox", e.GetActorId())
		require.Equal(t, ordersv1.Operation_OPERATION_APPROVE, e.GetOperation())
	}
}

func TestAKeyCorrectsAnyStatus(t *testing.T) {
	t.Parallel()
	f := setup(t)
	correct := func(key, id string, status ordersv1.OrderStatus) (*ordersv1.Order, error) {
		resp, err := f.CorrectSandboxStatus(f.keyContext(t, key), &ordersv1.CorrectSandboxStatusRequest{OrderId: id, Status: status})
		return resp.GetOrder(), err
	}
	f.catalog.stock = 1
	id := f.campaignOrder(t).GetId()
	cancelled, err := correct("c", id, cancelledStatus)
	require.NoError(t, err)
	require.Equal(t, "Cancelled in the sandbox.", cancelled.GetCancellationReason())
	require.Equal(t, 1, f.catalog.unitsLeft())

	t.Run("to reopen an order needs its unit of stock", func(t *testing.T) {
		other := f.campaignOrder(t).GetId()
		for range 2 {
			_, err := correct("o", id, processingStatus)
			require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
		}
		_, err := correct("free it", other, cancelledStatus)
		require.NoError(t, err)
		_, err = correct("o", id, processingStatus)
		require.True(t, problem.Is(err, problem.OutOfStock), "the refusal was stored: %v", err)
		for range 2 {
			reopened, err := correct("o2", id, processingStatus)
			require.NoError(t, err)
			require.Equal(t, processingStatus, reopened.GetStatus())
		}
		require.Zero(t, f.catalog.unitsLeft(), "a repetition takes no second unit")
	})
	t.Run("a replay does not depend on what happened since", func(t *testing.T) {
		_, err := correct("c2", id, cancelledStatus)
		require.NoError(t, err)
		again, err := correct("o2", id, processingStatus)
		require.NoError(t, err)
		require.Equal(t, processingStatus, again.GetStatus())
		require.Equal(t, 1, f.catalog.unitsLeft())
	})
	_, err = correct("none", id, 0)
	require.Equal(t, []string{"status required"}, violationsOf(t, err))
}

func TestAShipmentWithErrorsIsRefusedInTheSandbox(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	id := f.placeInStatus(t, sentStatus).GetId()
	_, err := f.DispatchSandboxOrder(f.keyContext(t, newID()), &ordersv1.DispatchSandboxOrderRequest{
		OrderId: id, TrackingUrl: new("http://example.com"),
	})
	require.Equal(t, []string{"trackingUrl invalid"}, violationsOf(t, err), "before the status")
	_, err = f.CorrectSandboxTracking(f.keyContext(t, newID()), &ordersv1.CorrectSandboxTrackingRequest{
		OrderId: id, Carrier: new(strings.Repeat("c", 101)),
	})
	require.Equal(t, []string{"carrier too_long"}, violationsOf(t, err))
}
