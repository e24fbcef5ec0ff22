package server_test

import (
	"bytes"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func cancel(orderID, reason string) *ordersv1.CancelOrderRequest {
	return &ordersv1.CancelOrderRequest{OrderId: orderID, Reason: reason}
}

func TestTheStockOfACancelledOrderIsReturnedOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.stocked = true
	order := f.placeOne(t, "o-1")
	_, err := f.CancelOrder(f.keyContext(t, "c"), cancel(order.GetId(), "x"))
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

func TestTheTimesOfARecordGrowWhenTheClockJumpsBack(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	f.clock = f.clock.Add(-time.Hour)
	resp, err := f.CancelOrder(f.keyContext(t, "c"), cancel(order.GetId(), "x"))
	require.NoError(t, err)
	require.Equal(t, order.GetUpdatedAt().AsTime().Add(time.Microsecond), resp.GetOrder().GetUpdatedAt().AsTime())
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

func TestACorrectionIsSealedAndRecorded(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	order := f.placeOne(t, "o-1")
	f.clock = f.clock.Add(time.Minute)
	resp, err := f.UpdateDelivery(f.keyContext(t, "u1"), street(order.GetId(), 0, "Marked Street 2"))
	require.NoError(t, err)
	got := resp.GetOrder()
	require.EqualValues(t, 1, got.GetVersion())
	recipient := f.sealedRecipient(t, order.GetId())
	require.Equal(t, "Marked Street 2", recipient["street"])
	require.Equal(t, "Marked City", recipient["city"])

	e := f.lastEvent(t)
	require.Equal(t, "order.updated", e.kind)
	require.EqualValues(t, 1, e.data["version"])
	require.EqualValues(t, 7, e.origin)
	require.Equal(t, got.GetUpdatedAt().AsTime(), e.occurredAt)

	t.Run("a repetition is replayed", func(t *testing.T) {
		again, err := f.UpdateDelivery(f.keyContext(t, "u1"), street(order.GetId(), 0, "Marked Street 2"))
		require.NoError(t, err)
		require.True(t, proto.Equal(resp, again))
		require.Equal(t, 2, f.count(t, "outbox"))
	})
	t.Run("a correction without changes records nothing", func(t *testing.T) {
		same, err := f.UpdateDelivery(f.keyContext(t, "u2"), street(order.GetId(), 1, "Marked Street 2"))
		require.NoError(t, err)
		require.True(t, proto.Equal(got, same.GetOrder()))
		require.Equal(t, 2, f.count(t, "outbox"))
	})
	t.Run("the street is in the sealed column only", func(t *testing.T) {
		for _, table := range []string{"orders", "outbox", "idempotency_answers"} {
			var rows []byte
			require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT jsonb_agg(to_jsonb(x))::text::bytea FROM "+table+" x").Scan(&rows))
			require.NotContains(t, string(bytes.ToLower(rows)), "marked street")
		}
	})
}

func TestViolationsOfTheEdgeAreReportedAfterStatusAndVersion(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	order := f.placeOne(t, "o-1")
	correct := func(key string) error {
		r := caller.Request{IdempotencyKey: key, Fingerprint: []byte(key), Violations: []problem.Violation{
			{Field: "urgent", Code: problem.FieldInvalid, Message: "must be true or false"},
		}}
		_, err := f.UpdateDelivery(caller.WithRequest(f.keyContext(t, key), r), street(order.GetId(), 1, "x"))
		return err
	}
	require.True(t, problem.Is(correct("stale"), problem.VersionConflict))
	_, err := f.pool.Exec(t.Context(), "UPDATE orders SET version = 1")
	require.NoError(t, err)
	p, ok := problem.As(correct("fields"))
	require.True(t, ok)
	require.Equal(t, "urgent", p.Violations[0].Field)
	_, err = f.pool.Exec(t.Context(), "UPDATE orders SET status = 'SENT'")
	require.NoError(t, err)
	require.True(t, problem.Is(correct("sent"), problem.NotEditable))
}

func TestOfManyConcurrentCorrectionsOneWins(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	const callers = 20
	var won atomic.Int32
	var group errgroup.Group
	for i := range callers {
		group.Go(func() error {
			key := string(rune('a' + i))
			_, err := f.UpdateDelivery(f.keyContext(t, key), street(order.GetId(), 0, "Street "+key))
			switch {
			case err == nil:
				won.Add(1)
			case !problem.Is(err, problem.VersionConflict):
				return err
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 1, won.Load())
	require.Equal(t, 2, f.count(t, "outbox"))
	require.EqualValues(t, 1, f.read(t, order.GetId()).GetVersion())
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
