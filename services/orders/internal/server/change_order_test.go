package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
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

func TestTheConditionOfACancellationComesAfterItsFields(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.placeOne(t, "o-1").GetId()
	_, err := f.CancelOrder(f.keyContext(t, "c"), cancel(id, "x"))
	require.NoError(t, err)
	for reason, want := range map[string]problem.Code{
		"":  problem.InvalidRequest,
		"x": problem.PreconditionFailed, // A cancelled order is not the one that was read.
	} {
		ctx := f.keyContext(t, newID())
		r := caller.RequestFrom(ctx)
		r.IfMatch = &caller.Condition{Tags: []string{`"old"`}}
		_, err = f.CancelOrder(caller.WithRequest(ctx, r), cancel(id, reason))
		require.True(t, problem.Is(err, want), "%v", err)
	}
}
