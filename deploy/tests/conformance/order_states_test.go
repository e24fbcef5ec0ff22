package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func testOrderStates(t *testing.T, p *platform) {
	waiting, f := newFixture(t, p, approving), newFixture(t, p)
	waiting.testApproval(t)
	const created, statusChanged = "order.created", "order.status_changed"
	gift := f.putGift(t, "S")
	campaign := f.campaign(t, 9, gift)
	requirement(t, "OST-2", func(t *testing.T) {
		order := f.place(t)
		require.Equal(t, "PROCESSING", order["status"])
		f.requireEvents(t, f.key, idOf(order), created)
	})
	requirement(t, "OST-3", func(t *testing.T) {
		link := f.claimed(t)
		order := f.orderOf(t, link)
		require.Equal(t, "PROCESSING", order["status"])
		f.requireEvents(t, f.key, idOf(order), created)
		f.requireEvents(t, f.key, idOf(link), "personal_link.created", "personal_link.claimed")
	})
	order := f.place(t)
	requirement(t, "OST-5", func(t *testing.T) {
		sent := f.dispatch(t, idOf(order))
		require.Equal(t, "SENT", sent["status"])
		require.Len(t, sent["shipments"], 1)
		f.requireStatusChange(t, idOf(order), "PROCESSING", created, statusChanged)
	})
	requirement(t, "OST-40", func(t *testing.T) {
		_, err := f.Orders(t).CorrectTracking(t.Context(), &ordersv1.CorrectTrackingRequest{
			Actor: operator, TenantId: f.tenant, OrderId: idOf(order),
			Shipment: &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-2", TrackingUrl: "https://carrier.example/T-2"},
		})
		require.NoError(t, err)
		events := f.requireEvents(t, f.key, idOf(order), created, statusChanged, "order.updated")
		require.Equal(t, f.read(t, "/orders/"+idOf(order)), events[2].Record(t))
		require.Contains(t, events[2].Raw, "T-2")
	})
	requirement(t, "OST-6", func(t *testing.T) {
		_, err := f.Orders(t).DeliverOrder(t.Context(),
			&ordersv1.DeliverOrderRequest{Actor: operator, TenantId: f.tenant, OrderId: idOf(order)})
		require.NoError(t, err)
		require.Equal(t, "COMPLETED", f.read(t, "/orders/"+idOf(order))["status"])
		f.requireStatusChange(t, idOf(order), "SENT", created, statusChanged, "order.updated", statusChanged)
	})
	taken := f.place(t, ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small()))
	requirement(t, "OST-8", func(t *testing.T) {
		cancelled := f.cancel(t, "/orders/"+idOf(taken))
		require.Equal(t, []any{"CANCELLED", "Another reward."}, []any{cancelled["status"], cancelled["cancellationReason"]})
		f.requireStatusChange(t, idOf(taken), "PROCESSING", created, statusChanged)
	})
	requirement(t, "OST-15", func(t *testing.T) { require.Equal(t, []any{9.0}, f.stockOf(t, campaign)) })
	requirement(t, "OST-11", func(t *testing.T) {
		again := f.Post(t, f.key, "/orders/"+idOf(taken)+":cancel", `{"reason": "Second."}`)
		require.Equal(t, http.StatusOK, again.Status)
		require.Equal(t, "Another reward.", again.Object(t)["cancellationReason"])
		marker := f.place(t)
		f.requireEvents(t, f.key, idOf(marker), created)
		f.requireEvents(t, f.key, idOf(taken), created, statusChanged)
	})
	for id, actor := range map[string]*commonv1.Actor{"OST-9": f.member, "OST-10": operator} {
		requirement(t, id, func(t *testing.T) {
			order := f.place(t)
			f.cancelAs(t, actor, idOf(order))
			require.Equal(t, "Called in.", f.read(t, "/orders/"+idOf(order))["cancellationReason"])
			f.requireStatusChange(t, idOf(order), "PROCESSING", created, statusChanged)
		})
	}
	requirement(t, "OST-12", func(t *testing.T) {
		f.correctStatus(t, idOf(taken), processing)
		require.Equal(t, "PROCESSING", f.read(t, "/orders/"+idOf(taken))["status"])
		f.requireStatusChange(t, idOf(taken), "CANCELLED", created, statusChanged, statusChanged)
	})
	f.testActions(t)
}

// testApproval is for a tenant whose orders wait for approval.
func (f *fixture) testApproval(t *testing.T) {
	order, other := f.place(t), f.place(t)
	requirement(t, "OST-1", func(t *testing.T) {
		require.Equal(t, "REQUESTED", order["status"])
		f.requireEvents(t, f.key, idOf(order), "order.created")
	})
	requirement(t, "OST-14", func(t *testing.T) {
		for _, actor := range []*commonv1.Actor{f.member, operator} {
			require.Equal(t, codes.PermissionDenied, status.Code(f.approve(t, actor, idOf(order))))
		}
		require.Equal(t, "REQUESTED", f.read(t, "/orders/"+idOf(order))["status"])
	})
	requirement(t, "OST-4", func(t *testing.T) {
		require.NoError(t, f.approve(t, f.administrator, idOf(order)))
		require.NoError(t, f.approve(t, f.coordinator, idOf(other)))
		for _, approved := range []record{order, other} {
			require.Equal(t, "PROCESSING", f.read(t, "/orders/"+idOf(approved))["status"])
		}
	})
	requirement(t, "OST-13", func(t *testing.T) {
		f.requireStatusChange(t, idOf(order), "REQUESTED", "order.created", "order.status_changed")
	})
	requirement(t, "OST-16", func(t *testing.T) {
		gift := f.putGift(t, "S")
		campaign := f.campaign(t, 1, gift)
		from := []change{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())}
		holder := f.place(t, from...)
		require.Equal(t, "REQUESTED", holder["status"])
		require.Equal(t, []any{0.0}, f.stockOf(t, campaign))
		f.refuse(t, "out_of_stock", from...)
		f.cancel(t, "/orders/"+idOf(holder))
		require.Equal(t, []any{1.0}, f.stockOf(t, campaign))
		require.NoError(t, f.approve(t, f.coordinator, idOf(f.place(t, from...))))
		require.Equal(t, []any{0.0}, f.stockOf(t, campaign), "an approval takes no second unit")
	})
	requirement(t, "OST-7", func(t *testing.T) {
		refused := f.place(t)
		cancelled := f.cancel(t, "/orders/"+idOf(refused))
		require.Equal(t, []any{"CANCELLED", "Another reward."}, []any{cancelled["status"], cancelled["cancellationReason"]})
		f.requireStatusChange(t, idOf(refused), "REQUESTED", "order.created", "order.status_changed")
	})
}

// testActions tries each action of a key on an order in each status.
func (f *fixture) testActions(t *testing.T) {
	for id, in := range map[string]string{
		"OST-20": "REQUESTED", "OST-24": "PROCESSING", "OST-28": "SENT", "OST-32": "COMPLETED", "OST-36": "CANCELLED",
	} {
		requirement(t, id, func(t *testing.T) { require.Equal(t, in, f.orderIn(t, in)["status"]) })
	}
	for id, in := range map[string]string{
		"OST-23": "REQUESTED", "OST-27": "PROCESSING", "OST-31": "SENT", "OST-35": "COMPLETED", "OST-39": "CANCELLED",
	} {
		requirement(t, id, func(t *testing.T) {
			order := f.orderIn(t, in)
			posted := f.Post(t, f.key, "/orders/"+idOf(order)+"/messages", `{"body": "When does it come?"}`)
			require.Equal(t, http.StatusCreated, posted.Status, posted.Body)
			require.Equal(t, order, f.read(t, "/orders/"+idOf(order)), "a message does not change the order")
		})
	}
	for id, in := range map[string]string{"OST-21": "REQUESTED", "OST-29": "SENT", "OST-33": "COMPLETED", "OST-37": "CANCELLED"} {
		requirement(t, id, func(t *testing.T) { f.requireRefusedIn(t, in, ":update-delivery", "not_editable") })
	}
	for id, in := range map[string]string{"OST-30": "SENT", "OST-34": "COMPLETED"} {
		requirement(t, id, func(t *testing.T) { f.requireRefusedIn(t, in, ":cancel", "not_cancellable") })
	}
	requirement(t, "OST-25", func(t *testing.T) {
		order := f.orderIn(t, "PROCESSING")
		require.Equal(t, true, f.update(t, order, `"urgent": true`)["urgent"])
	})
	for id, in := range map[string]string{"OST-22": "REQUESTED", "OST-26": "PROCESSING"} {
		requirement(t, id, func(t *testing.T) {
			require.Equal(t, "CANCELLED", f.cancel(t, "/orders/"+idOf(f.orderIn(t, in)))["status"])
		})
	}
	requirement(t, "OST-38", func(t *testing.T) {
		order := f.orderIn(t, "CANCELLED")
		require.Equal(t, order, f.cancel(t, "/orders/"+idOf(order)))
	})
}

// requireRefusedIn tries the action on an order in the status.
func (f *fixture) requireRefusedIn(t *testing.T, in, action string, code problem.Code) {
	t.Helper()
	order := f.orderIn(t, in)
	body := fmt.Sprintf(`{"expectedVersion": %v, "urgent": true, "reason": "Late."}`, order["version"])
	refused := f.Post(t, f.key, "/orders/"+idOf(order)+action, body).Problem(t, code)
	require.Equal(t, in, refused["currentStatus"])
	require.Equal(t, order, f.read(t, "/orders/"+idOf(order)))
}
