package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	accepted := atOnce(t, 16, func(i int) error {
		_, err := f.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
			Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), Shipment: parcel([]string{"T-1", "T-2"}[i%2]),
		})
		return err
	}, problem.NotEditable)
	require.Equal(t, 8, accepted, "the first, and those with the same shipment")
	require.Equal(t, order.GetVersion()+1, f.read(t, order.GetId()).GetVersion())
	require.Equal(t, []string{"order.created", changed, changed}, f.eventsOf(t, order.GetId()))
}

func TestPersonsCorrectDeliveriesByTheSameRules(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeInStatus(t, processingStatus)
	correction := &ordersv1.CorrectDeliveryRequest{
		Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), ExpectedVersion: new(int64(0)),
		Recipient: &ordersv1.DeliveryCorrection{Name: new("Somebody Else")},
	}
	_, err := f.CorrectDelivery(t.Context(), correction)
	require.True(t, problem.Is(err, problem.VersionConflict), "%v", err)
	correction.ExpectedVersion = new(order.GetVersion())
	_, err = f.CorrectDelivery(t.Context(), correction)
	require.NoError(t, err)
	require.Equal(t, "Somebody Else", f.file(t, operator(), order.GetId()).GetDetails().GetRecipient().GetName())
}
