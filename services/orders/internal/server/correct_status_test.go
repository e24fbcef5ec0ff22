package server_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// campaignOrder places an order that holds a unit.
func (d *desk) campaignOrder(t *testing.T) *ordersv1.Order {
	t.Helper()
	r := request(newID())
	r.CampaignId, r.BrandId = proto.String(campaignID), nil
	resp, err := d.PlaceOrder(as(t, newID()), r)
	require.NoError(t, err)
	return resp.GetOrder()
}

func TestReopeningTakesTheUnitAgain(t *testing.T) {
	d := openDesk(t)
	w := newWarehouse(1)
	d.stockUp(w)
	order := d.campaignOrder(t)
	require.Zero(t, w.left())
	d.cancel(t, order.GetId())
	require.Equal(t, 1, w.left())

	for _, target := range []ordersv1.OrderStatus{processingStatus, requestedStatus, sentStatus, completedStatus} {
		_, err := d.correct(t, order.GetId(), target)
		require.NoError(t, err)
		require.Zero(t, w.left(), rules.StatusText(target))
		require.NoError(t, d.recovery.Settle(t.Context()))
		require.Zero(t, w.left(), "recovery keeps it")
		_, err = d.correct(t, order.GetId(), cancelledStatus)
		require.NoError(t, err)
		require.NoError(t, d.recovery.Settle(t.Context()))
		require.Equal(t, 1, w.left(), "given back once")
	}

	t.Run("where there is none left it stays cancelled", func(t *testing.T) {
		d.campaignOrder(t)
		before := d.read(t, order.GetId())
		_, err := d.correct(t, order.GetId(), processingStatus)
		require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
		require.True(t, proto.Equal(before, d.read(t, order.GetId())))
		require.Zero(t, w.left())
	})
}

func TestAReopeningThatFailsKeepsNothing(t *testing.T) {
	d := openDesk(t)
	w := newWarehouse(1)
	d.stockUp(w)
	order := d.campaignOrder(t)
	d.cancel(t, order.GetId())
	_, err := d.pool.Exec(t.Context(), `ALTER TABLE order_audit ADD CONSTRAINT spoiled CHECK (operation <> 'CORRECT_STATUS')`)
	require.NoError(t, err)
	_, err = d.correct(t, order.GetId(), processingStatus)
	require.Error(t, err)
	require.Equal(t, cancelledStatus, d.read(t, order.GetId()).GetStatus(), "no change without its audit")
	require.Equal(t, 1, w.left(), "at once")
	_, err = d.pool.Exec(t.Context(), `ALTER TABLE order_audit DROP CONSTRAINT spoiled`)
	require.NoError(t, err)

	w.down = errors.New("catalog is down")
	_, err = d.pool.Exec(t.Context(), `ALTER TABLE order_audit ADD CONSTRAINT spoiled CHECK (operation <> 'CORRECT_STATUS') NOT VALID`)
	require.NoError(t, err)
	_, err = d.correct(t, order.GetId(), processingStatus)
	require.Error(t, err)
	require.Zero(t, w.left())
	w.down = nil
	require.NoError(t, d.recovery.Settle(t.Context()))
	require.Equal(t, 1, w.left(), "by recovery")
	_, err = d.pool.Exec(t.Context(), `ALTER TABLE order_audit DROP CONSTRAINT spoiled`)
	require.NoError(t, err)
	_, err = d.correct(t, order.GetId(), processingStatus)
	require.NoError(t, err, "and then it can reopen")
	require.Zero(t, w.left())
}

func TestManyReopeningsAtOnceTakeOneUnit(t *testing.T) {
	d := openDesk(t)
	w := newWarehouse(3)
	d.stockUp(w)
	order := d.campaignOrder(t)
	d.cancel(t, order.GetId())
	var group errgroup.Group
	for i := range 8 {
		target := []ordersv1.OrderStatus{processingStatus, sentStatus}[i%2]
		group.Go(func() error {
			_, err := d.CorrectStatus(t.Context(), &ordersv1.CorrectStatusRequest{
				Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), Status: target,
			})
			if problem.Is(err, problem.ServiceUnavailable) {
				return nil // Overtaken too often; the caller tries again.
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.NoError(t, d.recovery.Settle(t.Context()))
	require.Equal(t, 2, w.left())
	after := d.read(t, order.GetId())
	require.NotEqual(t, cancelledStatus, after.GetStatus())
	require.Len(t, d.eventsOf(t, order.GetId()), int(after.GetVersion())+1, "an event for each version")
	_, err := d.correct(t, order.GetId(), cancelledStatus)
	require.NoError(t, err)
	require.NoError(t, d.recovery.Settle(t.Context()))
	require.Equal(t, 3, w.left())
}

func TestAnOrderWithoutStockReopensFreely(t *testing.T) {
	d := openDesk(t)
	d.stockUp(newWarehouse(0))
	order := d.in(t, cancelledStatus)
	got, err := d.correct(t, order.GetId(), processingStatus)
	require.NoError(t, err)
	require.Nil(t, got.CancellationReason)
}
