package server_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// ifMatch is the context of a request with the condition; without states it has none.
func ifMatch(ctx context.Context, states ...string) context.Context {
	if len(states) == 0 {
		return ctx
	}
	r := caller.RequestFrom(ctx)
	r.IfMatch = &caller.Condition{}
	for _, state := range states {
		r.IfMatch.Tags = append(r.IfMatch.Tags, caller.NewETag(state, []byte("a body")))
	}
	return caller.WithRequest(ctx, r)
}

// conditional are the actions of a key on an order, under a condition on its state.
var conditional = map[string]func(t *testing.T, f *fixture, key, orderID string, states ...string) error{
	"cancel": func(t *testing.T, f *fixture, key, orderID string, states ...string) error {
		_, err := f.CancelOrder(ifMatch(f.keyContext(t, key), states...), &ordersv1.CancelOrderRequest{OrderId: orderID, Reason: "x"})
		return err
	},
	"correct delivery": func(t *testing.T, f *fixture, key, orderID string, states ...string) error {
		version := f.read(t, orderID).GetVersion()
		_, err := f.UpdateDelivery(ifMatch(f.keyContext(t, key), states...), &ordersv1.UpdateDeliveryRequest{
			OrderId: orderID, ExpectedVersion: &version, Urgent: new(true),
		})
		return err
	},
	"post message": func(t *testing.T, f *fixture, key, orderID string, states ...string) error {
		_, err := f.PostOrderMessage(ifMatch(f.keyContext(t, key), states...),
			&ordersv1.PostOrderMessageRequest{OrderId: orderID, Body: "x"})
		return err
	},
}

func TestAnActionHappensOnlyIfItsConditionHolds(t *testing.T) {
	t.Parallel()
	for name, act := range conditional {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			order := f.placeOne(t, "o-1")
			old := caller.OrderState(order)
			_, err := f.UpdateDelivery(f.keyContext(t, "before"), &ordersv1.UpdateDeliveryRequest{
				OrderId: order.GetId(), ExpectedVersion: new(int64(0)), CourierComment: new("ring"),
			})
			require.NoError(t, err)
			changed := f.read(t, order.GetId())
			events := f.eventsOf(t, order.GetId())

			err = act(t, f, "k", order.GetId(), old)
			p, ok := problem.As(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, problem.PreconditionFailed, p.Code)
			require.Equal(t, "PROCESSING", p.CurrentStatus)
			require.True(t, proto.Equal(changed, f.read(t, order.GetId())))
			require.Equal(t, events, f.eventsOf(t, order.GetId()))

			require.NoError(t, act(t, f, "k", order.GetId(), caller.OrderState(changed)), "the refusal left the Idempotency-Key free")
			require.NoError(t, act(t, f, "k", order.GetId(), old), "a repetition gets the stored answer, whatever its condition")
			require.Len(t, f.eventsOf(t, order.GetId()), len(events)+1)
		})
	}
}

func TestTheConditionComesAfterTheStatusAndBeforeTheVersion(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.placeOne(t, "o-1").GetId()
	update := &ordersv1.UpdateDeliveryRequest{
		OrderId: id, ExpectedVersion: new(int64(7)), Recipient: &ordersv1.DeliveryCorrection{Name: new("")},
	}
	_, err := f.UpdateDelivery(ifMatch(f.keyContext(t, newID()), "old"), update)
	require.True(t, problem.Is(err, problem.PreconditionFailed), "%v", err)
	_, err = f.CancelOrder(ifMatch(f.keyContext(t, newID()), "old"), &ordersv1.CancelOrderRequest{OrderId: id})
	require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
	_, err = f.CancelOrder(ifMatch(f.keyContext(t, newID(), otherBrand), "old"),
		&ordersv1.CancelOrderRequest{OrderId: id, Reason: "x"})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)

	_, err = f.CancelOrder(f.keyContext(t, newID()), &ordersv1.CancelOrderRequest{OrderId: id, Reason: "x"})
	require.NoError(t, err)
	_, err = f.UpdateDelivery(ifMatch(f.keyContext(t, newID()), "old"), update)
	require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	_, err = f.CancelOrder(ifMatch(f.keyContext(t, newID()), "old"), &ordersv1.CancelOrderRequest{OrderId: id, Reason: "x"})
	require.True(t, problem.Is(err, problem.PreconditionFailed), "a cancelled order is not the one that was read: %v", err)
}

// Posting a message does not change the order, so it is not among the actions.
func TestOfManyActionsWithOneTagOneHappens(t *testing.T) {
	t.Parallel()
	const callers = 12
	f := setup(t)
	for _, name := range []string{"cancel", "correct delivery"} {
		t.Run(name, func(t *testing.T) {
			order := f.placeOne(t, name)
			var happened atomic.Int32
			var group errgroup.Group
			for n := range callers {
				group.Go(func() error {
					ctx := ifMatch(f.keyContext(t, newID()), caller.OrderState(order))
					var err error
					if name == "cancel" {
						_, err = f.CancelOrder(ctx, &ordersv1.CancelOrderRequest{OrderId: order.GetId(), Reason: "x"})
					} else {
						_, err = f.UpdateDelivery(ctx, &ordersv1.UpdateDeliveryRequest{
							OrderId: order.GetId(), ExpectedVersion: new(int64(0)), CourierComment: new(newID()[:n+1]),
						})
					}
					switch {
					case err == nil:
						happened.Add(1)
					case !problem.Is(err, problem.PreconditionFailed):
						return err
					}
					return nil
				})
			}
			require.NoError(t, group.Wait())
			require.EqualValues(t, 1, happened.Load())
			require.EqualValues(t, 1, f.read(t, order.GetId()).GetVersion())
			require.Len(t, f.eventsOf(t, order.GetId()), 2)
		})
	}
}
