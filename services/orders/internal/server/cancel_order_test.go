package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func cancel(orderID, reason string) *ordersv1.CancelOrderRequest {
	return &ordersv1.CancelOrderRequest{OrderId: orderID, Reason: reason}
}

func TestACancelledOrderKeepsItsFirstReason(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	f.clock = f.clock.Add(time.Minute)
	resp, err := f.CancelOrder(f.as(t, "c1"), cancel(order.GetId(), "changed my mind"))
	require.NoError(t, err)
	got := resp.GetOrder()
	require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_CANCELLED, got.GetStatus())
	require.Equal(t, "changed my mind", got.GetCancellationReason())
	require.EqualValues(t, 1, got.GetVersion())
	require.Equal(t, order.GetUpdatedAt().AsTime().Add(time.Minute), got.GetUpdatedAt().AsTime())

	t.Run("a read agrees with the answer", func(t *testing.T) {
		require.True(t, proto.Equal(got, f.read(t, order.GetId())))
	})
	t.Run("the event holds the status before", func(t *testing.T) {
		e := f.lastEvent(t)
		require.Equal(t, "order.status_changed", e.kind)
		require.Equal(t, "PROCESSING", e.data["previousStatus"])
		require.Equal(t, "CANCELLED", e.data["order"].(map[string]any)["status"])
		require.Equal(t, got.GetUpdatedAt().AsTime(), e.occurredAt)
		require.EqualValues(t, 7, e.origin)
	})
	t.Run("a repetition is replayed and a second cancellation changes nothing", func(t *testing.T) {
		for _, key := range []string{"c1", "c2"} {
			again, err := f.CancelOrder(f.as(t, key), cancel(order.GetId(), "changed my mind"))
			require.NoError(t, err)
			require.True(t, proto.Equal(got, again.GetOrder()))
		}
		require.Equal(t, 2, f.count(t, "outbox"))
	})
}

func TestACancellationIsRefused(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	order := f.placeOne(t, "o-1")
	for name, tc := range map[string]struct {
		order, reason string
		brands        []string
		want          problem.Code
	}{
		"without reason":          {order.GetId(), " ", nil, problem.InvalidRequest},
		"with the id of no order": {tenantID, "x", nil, problem.NotFound},
		"with an invalid id":      {"1", "x", nil, problem.NotFound},
		"out of the key's brands": {order.GetId(), "x", []string{otherBrand}, problem.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.CancelOrder(f.as(t, name, tc.brands...), cancel(tc.order, tc.reason))
			require.True(t, problem.Is(err, tc.want), "%v", err)
		})
	}
	for _, status := range []string{"SENT", "COMPLETED"} {
		t.Run("when "+status, func(t *testing.T) {
			_, err := f.pool.Exec(t.Context(), "UPDATE orders SET status = $1", status)
			require.NoError(t, err)
			for range 2 { // The first call decides, the second is a replay.
				_, err = f.CancelOrder(f.as(t, status), cancel(order.GetId(), "x"))
				p, ok := problem.As(err)
				require.True(t, ok)
				require.Equal(t, problem.NotCancellable, p.Code)
				require.Equal(t, status, p.CurrentStatus)
			}
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
