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

func street(orderID string, version int64, street string) *ordersv1.UpdateDeliveryRequest {
	return &ordersv1.UpdateDeliveryRequest{
		OrderId: orderID, ExpectedVersion: &version,
		Recipient: &ordersv1.DeliveryCorrection{Address: &ordersv1.AddressCorrection{Street: &street}},
	}
}

func sealedRecipient(t *testing.T, f *fixture, orderID string) map[string]any {
	t.Helper()
	var sealed []byte
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT details_sealed FROM orders WHERE id = $1", orderID).Scan(&sealed))
	plain, err := f.ring.Open(sealed, "orders.details_sealed/"+orderID)
	require.NoError(t, err)
	var details map[string]any
	require.NoError(t, json.Unmarshal(plain, &details))
	return details["recipient"].(map[string]any)
}

func TestACorrectionIsSealedAndTold(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	f.now = f.now.Add(time.Minute)
	resp, err := f.UpdateDelivery(as(t, "u1"), street(order.GetId(), 0, "Marked Street 2"))
	require.NoError(t, err)
	got := resp.GetOrder()
	require.EqualValues(t, 1, got.GetVersion())
	recipient := sealedRecipient(t, f, order.GetId())
	require.Equal(t, "Marked Street 2", recipient["street"])
	require.Equal(t, "Marked City", recipient["city"])

	e := lastEvent(t, f)
	require.Equal(t, "order.updated", e.kind)
	require.EqualValues(t, 1, e.data["version"])
	require.EqualValues(t, 7, e.origin)
	require.Equal(t, got.GetUpdatedAt().AsTime(), e.occurredAt)

	t.Run("a repetition is replayed", func(t *testing.T) {
		again, err := f.UpdateDelivery(as(t, "u1"), street(order.GetId(), 0, "Marked Street 2"))
		require.NoError(t, err)
		require.True(t, proto.Equal(resp, again))
		require.Equal(t, 2, count(t, f.pool, "outbox"))
	})
	t.Run("one that changes nothing tells nothing", func(t *testing.T) {
		same, err := f.UpdateDelivery(as(t, "u2"), street(order.GetId(), 1, "Marked Street 2"))
		require.NoError(t, err)
		require.True(t, proto.Equal(got, same.GetOrder()))
		require.Equal(t, 2, count(t, f.pool, "outbox"))
	})
	t.Run("nobody reads the street outside of the sealed column", func(t *testing.T) {
		for _, table := range []string{"orders", "outbox", "idempotency_answers"} {
			var rows []byte
			require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT jsonb_agg(to_jsonb(x))::text::bytea FROM "+table+" x").Scan(&rows))
			require.NotContains(t, string(bytes.ToLower(rows)), "marked street")
		}
	})
}

func TestACorrectionOfAnOrderOutOfReachIsNotFound(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	for name, tc := range map[string]struct {
		id     string
		brands []string
	}{
		"another brand": {order.GetId(), []string{otherBrand}},
		"no such order": {tenantID, nil},
		"no uuid":       {"x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.UpdateDelivery(as(t, name, tc.brands...), street(tc.id, 5, "")) // Everything is wrong with it.
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		})
	}
}

func TestWhatTheEdgeFoundIsAnsweredAfterStatusAndVersion(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	faulty := func(key string) error {
		r := caller.Request{IdempotencyKey: key, Fingerprint: []byte(key), Violations: []problem.Violation{
			{Field: "urgent", Code: problem.FieldInvalid, Message: "must be true or false"},
		}}
		_, err := f.UpdateDelivery(caller.WithRequest(as(t, key), r), street(order.GetId(), 1, "x"))
		return err
	}
	require.True(t, problem.Is(faulty("stale"), problem.VersionConflict))
	_, err := f.pool.Exec(t.Context(), "UPDATE orders SET version = 1")
	require.NoError(t, err)
	p, ok := problem.As(faulty("fields"))
	require.True(t, ok)
	require.Equal(t, "urgent", p.Violations[0].Field)
	_, err = f.pool.Exec(t.Context(), "UPDATE orders SET status = 'SENT'")
	require.NoError(t, err)
	require.True(t, problem.Is(faulty("sent"), problem.NotEditable))
}

func TestOfManyCorrectionsAtOnceOneWins(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	const callers = 20
	var won atomic.Int32
	var group errgroup.Group
	for i := range callers {
		group.Go(func() error {
			key := string(rune('a' + i))
			_, err := f.UpdateDelivery(as(t, key), street(order.GetId(), 0, "Street "+key))
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
	require.Equal(t, 2, count(t, f.pool, "outbox"))
	read, err := f.GetOrder(as(t, ""), &ordersv1.GetOrderRequest{OrderId: order.GetId()})
	require.NoError(t, err)
	require.EqualValues(t, 1, read.GetOrder().GetVersion())
}

func TestACancellationAndACorrectionAtOnce(t *testing.T) {
	f := setup(t)
	f.catalog.check.Stocked = true
	const rounds = 10
	for i := range rounds {
		id := placeOne(t, f, "o-"+string(rune('a'+i))).GetId()
		var group errgroup.Group
		var correction error
		group.Go(func() error {
			_, correction = f.UpdateDelivery(as(t, "u"+id), street(id, 0, "Elsewhere"))
			return nil
		})
		for _, key := range []string{"c1", "c2"} {
			group.Go(func() error {
				_, err := f.CancelOrder(as(t, key+id), cancel(id, key))
				return err
			})
		}
		require.NoError(t, group.Wait())
		read, err := f.GetOrder(as(t, ""), &ordersv1.GetOrderRequest{OrderId: id})
		require.NoError(t, err)
		require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_CANCELLED, read.GetOrder().GetStatus())
		want := int64(1)
		if correction == nil {
			want = 2
		} else {
			require.True(t, problem.Is(correction, problem.NotEditable), "%v", correction)
		}
		require.Equal(t, want, read.GetOrder().GetVersion())
		var events int64
		require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE subject_id = $1", id).Scan(&events))
		require.Equal(t, want+1, events, "an event per version")
	}
	require.Len(t, f.catalog.released, rounds, "each unit once")
}
