package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// auto places an order that advances by itself.
func (f *fixture) auto(t *testing.T, directive string) *ordersv1.Order {
	t.Helper()
	req := request(newID())
	req.ExternalActionRef = &directive
	resp, err := f.PlaceOrder(f.keyContext(t, newID()), req)
	require.NoError(t, err)
	return resp.GetOrder()
}

// advance takes the step of every order whose step is due, and returns how many there were.
func (f *fixture) advance(t *testing.T) int {
	t.Helper()
	due, err := f.store.DueAdvances(t.Context(), 100)
	require.NoError(t, err)
	for _, d := range due {
		require.NoError(t, f.Advance(t.Context(), d))
	}
	return len(due)
}

// elapse lets time pass for the steps of orders.
func (f *fixture) elapse(t *testing.T, by time.Duration) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(), "UPDATE sandbox_paces SET due_at = due_at - $1::interval", by)
	require.NoError(t, err)
}

func TestAnOrderOfTheSandboxGoesOnByItself(t *testing.T) {
	t.Parallel()
	for directive, want := range map[string][]ordersv1.OrderStatus{
		"sandbox:auto":                           {requestedStatus, processingStatus, sentStatus, completedStatus},
		"sandbox:auto,stop=SENT":                 {requestedStatus, processingStatus, sentStatus},
		"sandbox:auto=2s,stop=PROCESSING my own": {requestedStatus, processingStatus},
	} {
		t.Run(directive, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t).withApproval().inSandbox()
			order := f.auto(t, directive)
			require.EqualValues(t, 1, f.woken.Load())
			require.Equal(t, want[0], order.GetStatus())
			for _, status := range want[1:] {
				require.Zero(t, f.advance(t), "before its time")
				f.elapse(t, 2*time.Second)
				require.Equal(t, 1, f.advance(t))
				require.Equal(t, status, f.read(t, order.GetId()).GetStatus())
			}
			require.Zero(t, f.count(t, "sandbox_paces"))
			require.Len(t, f.eventsOf(t, order.GetId()), len(want))
			require.Equal(t, len(want)-1, f.count(t, "order_audit WHERE actor_kind = 'SYSTEM' AND actor_id = 'Sandbox'"))
			require.Zero(t, f.lastEvent(t).origin)
		})
	}
}

// headers notes the headers of an answer.
type headers struct {
	grpc.ServerTransportStream
	metadata.MD
}

func (h *headers) SetHeader(md metadata.MD) error {
	h.MD = metadata.Join(h.MD, md)
	return nil
}

func TestAStoredAnswerSaysTooThatItsOrderGoesOn(t *testing.T) {
	t.Parallel()
	for name, stocked := range map[string]bool{"with stock": true, "without stock": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t).withApproval().inSandbox()
			f.catalog.stocked = stocked
			req := request(newID())
			req.ExternalActionRef = new("sandbox:auto")
			ctx := f.keyContext(t, newID())
			var first *ordersv1.PlaceOrderResponse
			for range 2 {
				var answer headers
				resp, err := f.PlaceOrder(grpc.NewContextWithServerTransportStream(ctx, &answer), req)
				require.NoError(t, err)
				require.Equal(t, []string{"auto"}, answer.Get(caller.SandboxHeader))
				if first != nil {
					require.True(t, proto.Equal(first, resp))
				}
				first = resp
			}
		})
	}
}

func TestAnOrderGoesOnFromWhereSomeoneElseHasTakenIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		meanwhile func(f *fixture, t *testing.T, id string)
		next      ordersv1.OrderStatus
		ends      bool
	}{
		"approved":   {(*fixture).approve, sentStatus, false},
		"dispatched": {func(f *fixture, t *testing.T, id string) { f.approve(t, id); f.dispatch(t, id) }, completedStatus, true},
		"cancelled":  {(*fixture).cancel, cancelledStatus, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t).withApproval().inSandbox()
			order := f.auto(t, "sandbox:auto")
			tc.meanwhile(f, t, order.GetId())
			f.elapse(t, 2*time.Second)
			f.advance(t)
			require.Equal(t, tc.next, f.read(t, order.GetId()).GetStatus())
			require.Equal(t, tc.ends, f.count(t, "sandbox_paces") == 0)
		})
	}
}

func TestInProductionADirectiveMeansNothing(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.auto(t, "sandbox:auto")
	require.Equal(t, "sandbox:auto=abc", f.auto(t, "sandbox:auto=abc").GetExternalActionRef())
	f.inSandbox().auto(t, "sandbox:auto,stop=PROCESSING") // It has its last status already.
	require.Zero(t, f.count(t, "sandbox_paces"))
}

// Two instances list the same order. Only one of them takes its step.
func TestInstancesTakeEachStepOnce(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).withApproval().inSandbox()
	for range 10 {
		order := f.auto(t, "sandbox:auto=1h")
		f.elapse(t, time.Hour)
		due := store.Due{TenantID: tenantID, OrderID: order.GetId()}
		problemtest.AtOnce(t, 4, func(int) error { return f.Advance(t.Context(), due) })
		require.Equal(t, processingStatus, f.read(t, order.GetId()).GetStatus())
		require.NoError(t, f.store.EndAutoAdvance(t.Context(), due))
	}
}

func TestAStepIsNeverFurtherAwayThanItsPace(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).inSandbox()
	order := f.auto(t, "sandbox:auto")
	f.elapse(t, -time.Hour) // The clock of the database was set back by an hour.
	require.Equal(t, 1, f.advance(t))
	require.Equal(t, sentStatus, f.read(t, order.GetId()).GetStatus())
	wait, found, err := f.store.NextAdvance(t.Context())
	require.NoError(t, err)
	require.True(t, found)
	require.InDelta(t, 2, wait.Seconds(), 1)
}

// A refusal places nothing, so nothing advances.
func TestStepsAreStoredWithTheirOrder(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).inSandbox()
	req := request("taken")
	req.ExternalActionRef = new("sandbox:auto")
	for range 2 {
		_, err := f.PlaceOrder(f.keyContext(t, "same"), req)
		require.NoError(t, err)
	}
	_, err := f.PlaceOrder(f.keyContext(t, "other"), req)
	require.True(t, problem.Is(err, problem.ExternalOrderIDConflict), "%v", err)
	require.Equal(t, 1, f.count(t, "sandbox_paces"))
	require.EqualValues(t, 2, f.woken.Load(), "a replay announces it too")
}

func TestStepsOfAnErasedOrderEnd(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).inSandbox()
	order := f.auto(t, "sandbox:auto")
	_, err := f.pool.Exec(t.Context(), "DELETE FROM orders")
	require.NoError(t, err)
	require.NoError(t, f.Advance(t.Context(), store.Due{TenantID: tenantID, OrderID: order.GetId()}))
	require.Zero(t, f.count(t, "sandbox_paces"))
}
