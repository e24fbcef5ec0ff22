package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestAllErrorsOfAnOperationAreReportedTogether(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	_, err := f.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{OrderId: "1"})
	require.Equal(t, []string{"shipment required", "actor required", "tenantId required", "orderId invalid"}, violationsOf(t, err))
}

func TestOfManyConcurrentDispatchesOneIsAccepted(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeInStatus(t, processingStatus)
	var group errgroup.Group
	outcomes := make(chan error, 16)
	for i := range 16 {
		shipment := parcel([]string{"T-1", "T-2"}[i%2])
		group.Go(func() error {
			_, err := f.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
				Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), Shipment: shipment,
			})
			outcomes <- err
			return nil
		})
	}
	require.NoError(t, group.Wait())
	close(outcomes)
	accepted := 0
	for err := range outcomes {
		if err == nil {
			accepted++
			continue
		}
		require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	}
	require.Equal(t, 8, accepted, "the first, and those with the same shipment")
	require.Equal(t, order.GetVersion()+1, f.read(t, order.GetId()).GetVersion())
	require.Equal(t, []string{"order.created", changed, changed}, f.eventsOf(t, order.GetId()))
}

func TestASecondCallReturnsTheOrderUnchanged(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeInStatus(t, completedStatus)
	resp, err := f.DeliverOrder(t.Context(),
		&ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: order.GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(order, resp.GetOrder()))
	require.Len(t, f.eventsOf(t, order.GetId()), 4)
}

func TestPersonsCorrectDeliveriesByTheSameRules(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeInStatus(t, processingStatus)
	correct := func(change func(r *ordersv1.CorrectDeliveryRequest)) error {
		r := &ordersv1.CorrectDeliveryRequest{
			Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), ExpectedVersion: new(order.GetVersion()),
		}
		change(r)
		_, err := f.CorrectDelivery(t.Context(), r)
		return err
	}
	stale := correct(func(r *ordersv1.CorrectDeliveryRequest) { r.ExpectedVersion = new(int64(0)) })
	require.True(t, problem.Is(stale, problem.VersionConflict), "%v", stale)
	require.NoError(t, correct(func(r *ordersv1.CorrectDeliveryRequest) {
		r.Recipient = &ordersv1.DeliveryCorrection{Name: new("Somebody Else")}
	}))
	file, err := f.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: order.GetId()})
	require.NoError(t, err)
	require.Equal(t, "Somebody Else", file.GetDetails().GetRecipient().GetName())
	require.Equal(t, "+46701234567", file.GetDetails().GetRecipient().GetPhone())
}
