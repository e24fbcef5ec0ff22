package server_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func cancel(orderID, reason string) *ordersv1.CancelOrderRequest {
	return &ordersv1.CancelOrderRequest{OrderId: orderID, Reason: reason}
}

func TestStockIsReturnedLaterIfCatalogIsDownAtTheCancellation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.stocked = true
	order := f.placeOne(t, "o-1")
	f.catalog.failReports(errCatalogDown)
	_, err := f.CancelOrder(f.keyContext(t, "c"), cancel(order.GetId(), "x"))
	require.NoError(t, err)
	require.Empty(t, f.catalog.released)
	require.Error(t, f.reservations.Reconcile(t.Context()))

	f.catalog.failReports(nil)
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, []string{order.GetId()}, f.catalog.released, "later, once")
}

func street(orderID string, version int64, street string) *ordersv1.UpdateDeliveryRequest {
	return &ordersv1.UpdateDeliveryRequest{
		OrderId: orderID, ExpectedVersion: &version,
		Recipient: &ordersv1.DeliveryCorrection{Address: &ordersv1.AddressCorrection{Street: &street}},
	}
}

func (f *fixture) sealedRecipient(t *testing.T, orderID string) map[string]any {
	t.Helper()
	return f.sealedDetails(t, orderID)["recipient"].(map[string]any)
}

func (f *fixture) sealedDetails(t *testing.T, orderID string) (details map[string]any) {
	t.Helper()
	var sealed []byte
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT details_sealed FROM orders WHERE id = $1", orderID).Scan(&sealed))
	plain, err := f.ring.Open(sealed, "orders.details_sealed/"+orderID)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(plain, &details))
	return details
}

func TestAConcurrentCancellationAndCorrection(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.stocked = true
	const orders = 10
	for i := range orders {
		id := f.placeOne(t, "o-"+string(rune('a'+i))).GetId()
		var group errgroup.Group
		var correction error
		group.Go(func() error {
			_, correction = f.UpdateDelivery(f.keyContext(t, "u"+id), street(id, 0, "Another Street"))
			return nil
		})
		for _, key := range []string{"c1", "c2"} {
			group.Go(func() error {
				_, err := f.CancelOrder(f.keyContext(t, key+id), cancel(id, key))
				return err
			})
		}
		require.NoError(t, group.Wait())
		read := f.read(t, id)
		require.Equal(t, cancelledStatus, read.GetStatus())
		want := int64(1)
		if correction == nil {
			want = 2
		} else {
			require.True(t, problem.Is(correction, problem.NotEditable), "%v", correction)
		}
		require.Equal(t, want, read.GetVersion())
		require.Len(t, f.eventsOf(t, id), int(want)+1, "an event per version")
	}
	require.Len(t, f.catalog.released, orders, "each unit once")
}
