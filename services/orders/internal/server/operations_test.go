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
	corrected, err := f.CorrectDelivery(t.Context(), correction)
	require.NoError(t, err)
	require.Equal(t, "Somebody Else", detailsIn(t, f.store, order.GetId()).Recipient.Name)
	again, err := f.CorrectDelivery(t.Context(), correction)
	require.NoError(t, err, "a repetition, whose version is not the latest any more")
	require.Equal(t, corrected.GetOrder().GetVersion(), again.GetOrder().GetVersion())
}
