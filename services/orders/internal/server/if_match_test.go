package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// ifMatch is the context of a request with the condition.
func ifMatch(ctx context.Context, state string) context.Context {
	r := caller.RequestFrom(ctx)
	r.IfMatch = &caller.Condition{Tags: []string{caller.NewETag(state, []byte("a body"))}}
	return caller.WithRequest(ctx, r)
}

func TestTheConditionOfACancellationComesAfterItsFields(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.placeOne(t, "o-1").GetId()
	_, err := f.CancelOrder(ifMatch(f.keyContext(t, newID()), "old"), cancel(id, ""))
	require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
	_, err = f.CancelOrder(f.keyContext(t, newID()), cancel(id, "x"))
	require.NoError(t, err)
	_, err = f.CancelOrder(ifMatch(f.keyContext(t, newID()), "old"), cancel(id, "x"))
	require.True(t, problem.Is(err, problem.PreconditionFailed), "a cancelled order is not the one that was read: %v", err)
}

// Posting a message does not change the order, so it is not among the actions.
func TestOfManyActionsWithOneTagOneHappens(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, name := range []string{"cancel", "correct delivery"} {
		t.Run(name, func(t *testing.T) {
			order := f.placeOne(t, name)
			happened := atOnce(t, 12, func(n int) error {
				ctx := ifMatch(f.keyContext(t, newID()), caller.OrderState(order))
				if name == "cancel" {
					_, err := f.CancelOrder(ctx, cancel(order.GetId(), "x"))
					return err
				}
				_, err := f.UpdateDelivery(ctx, &ordersv1.UpdateDeliveryRequest{
					OrderId: order.GetId(), ExpectedVersion: new(int64(0)), CourierComment: new(newID()[:n+1]),
				})
				return err
			}, problem.PreconditionFailed)
			require.Equal(t, 1, happened)
			require.EqualValues(t, 1, f.read(t, order.GetId()).GetVersion())
			require.Len(t, f.eventsOf(t, order.GetId()), 2)
		})
	}
}
