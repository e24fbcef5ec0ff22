package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// failAudit lets every correction of a status fail when it writes its audit, until end is called.
func (f *fixture) failAudit(t *testing.T) (end func()) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(),
		`ALTER TABLE order_audit ADD CONSTRAINT no_corrections CHECK (operation <> 'CORRECT_STATUS')`)
	require.NoError(t, err)
	return func() {
		_, err := f.pool.Exec(t.Context(), `ALTER TABLE order_audit DROP CONSTRAINT no_corrections`)
		require.NoError(t, err)
	}
}

func TestReopeningReservesTheUnitAgain(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.catalog.stock = 1
	order := f.campaignOrder(t)
	require.Zero(t, f.catalog.unitsLeft())
	f.cancel(t, order.GetId())
	require.Equal(t, 1, f.catalog.unitsLeft())

	for _, target := range []ordersv1.OrderStatus{processingStatus, requestedStatus, sentStatus, completedStatus} {
		_, err := f.correct(t, order.GetId(), target)
		require.NoError(t, err)
		require.Zero(t, f.catalog.unitsLeft(), enumname.String(target))
		require.NoError(t, f.reservations.Reconcile(t.Context()))
		require.Zero(t, f.catalog.unitsLeft(), "reconciling keeps the reservation")
		_, err = f.correct(t, order.GetId(), cancelledStatus)
		require.NoError(t, err)
		require.NoError(t, f.reservations.Reconcile(t.Context()))
		require.Equal(t, 1, f.catalog.unitsLeft(), "the unit is returned once")
	}

	t.Run("without stock it stays cancelled", func(t *testing.T) {
		f.campaignOrder(t)
		before := f.read(t, order.GetId())
		_, err := f.correct(t, order.GetId(), processingStatus)
		require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
		require.True(t, proto.Equal(before, f.read(t, order.GetId())))
		require.Zero(t, f.catalog.unitsLeft())
		f.catalog.reserveError = problem.New(problem.ProductNotInCampaign, "removed")
		_, err = f.correct(t, order.GetId(), processingStatus)
		require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
	})
}

func TestAReopeningThatFailsKeepsNoUnit(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.catalog.stock = 1
	order := f.campaignOrder(t)
	f.cancel(t, order.GetId())
	end := f.failAudit(t)
	_, err := f.correct(t, order.GetId(), processingStatus)
	require.Error(t, err)
	require.Equal(t, cancelledStatus, f.read(t, order.GetId()).GetStatus(), "no change without its audit")
	require.Equal(t, 1, f.catalog.unitsLeft(), "the unit is returned at once")
	end()

	f.catalog.failReports(errCatalogDown)
	end = f.failAudit(t)
	_, err = f.correct(t, order.GetId(), processingStatus)
	require.Error(t, err)
	require.Zero(t, f.catalog.unitsLeft())
	f.catalog.failReports(nil)
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, 1, f.catalog.unitsLeft(), "reconciling returns the unit")
	end()
	_, err = f.correct(t, order.GetId(), processingStatus)
	require.NoError(t, err, "and then it can reopen")
	require.Zero(t, f.catalog.unitsLeft())
}

func TestManyConcurrentReopeningsTakeOneUnit(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.catalog.stock = 3
	order := f.campaignOrder(t)
	f.cancel(t, order.GetId())
	// An order that changes too often is refused; its caller would try again.
	problemtest.AtOnce(t, 8, func(i int) error {
		_, err := f.CorrectStatus(t.Context(), &ordersv1.CorrectStatusRequest{
			Actor: operator(), TenantId: tenantID, OrderId: order.GetId(),
			Status: []ordersv1.OrderStatus{processingStatus, sentStatus}[i%2],
		})
		return err
	}, problem.ServiceUnavailable)
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, 2, f.catalog.unitsLeft())
	after := f.read(t, order.GetId())
	require.NotEqual(t, cancelledStatus, after.GetStatus())
	require.Len(t, f.eventsOf(t, order.GetId()), int(after.GetVersion())+1, "an event for each version")
	_, err := f.correct(t, order.GetId(), cancelledStatus)
	require.NoError(t, err)
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, 3, f.catalog.unitsLeft())
}

func TestAnOrderThatUsesNoStockReopensWithoutAReservation(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.catalog.stock = 0
	order := f.placeInStatus(t, cancelledStatus)
	got, err := f.correct(t, order.GetId(), processingStatus)
	require.NoError(t, err)
	require.Nil(t, got.CancellationReason)
}
