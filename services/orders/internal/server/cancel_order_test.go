package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func cancel(orderID, reason string) *ordersv1.CancelOrderRequest {
	return &ordersv1.CancelOrderRequest{OrderId: orderID, Reason: reason}
}

func TestOnlyOrdersOfTheKeyAreCancelled(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	order := f.placeOne(t, "o-1")
	for name, tc := range map[string]struct {
		order  string
		brands []string
	}{
		"with the id of no order": {tenantID, nil},
		"with an invalid id":      {"1", nil},
		"out of the key's brands": {order.GetId(), []string{otherBrand}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.CancelOrder(f.as(t, name, tc.brands...), cancel(tc.order, "x"))
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		})
	}
	require.Equal(t, 1, f.count(t, "outbox"))
}

func TestTheStockOfACancelledOrderIsReturnedOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.stocked = true
	order := f.placeOne(t, "o-1")
	_, err := f.CancelOrder(f.as(t, "c"), cancel(order.GetId(), "x"))
	require.NoError(t, err)
	require.Equal(t, []string{order.GetId()}, f.catalog.released, "immediately")
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.NotContains(t, f.catalog.confirmed, order.GetId())
	var outcome string
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT outcome FROM reservation_outcomes").Scan(&outcome))
	require.Equal(t, "RELEASED", outcome)
}

func TestStockIsReturnedLaterIfCatalogIsDownAtTheCancellation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.stocked = true
	order := f.placeOne(t, "o-1")
	f.catalog.setDown(errCatalogDown)
	_, err := f.CancelOrder(f.as(t, "c"), cancel(order.GetId(), "x"))
	require.NoError(t, err)
	require.Empty(t, f.catalog.released)
	require.Error(t, f.reservations.Reconcile(t.Context()))

	f.catalog.setDown(nil)
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, []string{order.GetId()}, f.catalog.released, "later, once")
}

func TestTheTimesOfARecordGrowWhenTheClockJumpsBack(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	f.clock = f.clock.Add(-time.Hour)
	resp, err := f.CancelOrder(f.as(t, "c"), cancel(order.GetId(), "x"))
	require.NoError(t, err)
	require.Equal(t, order.GetUpdatedAt().AsTime().Add(time.Microsecond), resp.GetOrder().GetUpdatedAt().AsTime())
}
