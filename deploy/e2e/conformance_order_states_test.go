package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func (s *shop) approve(t *testing.T, actor *commonv1.Actor, orderID string) error {
	t.Helper()
	_, err := s.orderOperations(t).ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: actor, TenantId: s.tenant, OrderId: orderID})
	return err
}

// correct has the operator set the order's status.
func (s *shop) correct(t *testing.T, orderID string, to ordersv1.OrderStatus) {
	t.Helper()
	request := &ordersv1.CorrectStatusRequest{Actor: clerk, TenantId: s.tenant, OrderId: orderID, Status: to}
	if to == ordersv1.OrderStatus_ORDER_STATUS_CANCELLED {
		request.Reason = "First reason."
	}
	_, err := s.orderOperations(t).CorrectStatus(t.Context(), request)
	require.NoError(t, err)
}

// changed demands that the order's last event is its change from the status into the record it is now.
func (s *shop) changed(t *testing.T, orderID, from string, kinds ...string) {
	t.Helper()
	events := s.recorded(t, s.key, orderID, kinds...)
	now := s.get(t, s.key, "/orders/"+orderID)
	require.JSONEq(t, `{"order": `+now.body+`, "previousStatus": "`+from+`"}`, string(events[len(events)-1].Data))
}

func (p *platform) promisesOfOrderStates(t *testing.T) {
	waiting, s := p.newShop(t, true), p.newShop(t, false)
	waiting.promisesOfApproval(t)
	const created, statusChanged = "order.created", "order.status_changed"
	gift := p.putGift(t, "S")
	campaign := s.campaign(t, 9, gift)
	t.Run("an order starts PROCESSING where nobody approves, and order.created is recorded", func(t *testing.T) {
		order := s.place(t)
		require.Equal(t, "PROCESSING", order["status"])
		s.recorded(t, s.key, idOf(order), created)
	})
	t.Run("the order of a claim starts PROCESSING with order.created and personal_link.claimed", func(t *testing.T) {
		link := s.claimed(t)
		order := s.read(t, "/orders/"+link["orderId"].(string))
		require.Equal(t, "PROCESSING", order["status"])
		s.recorded(t, s.key, idOf(order), created)
		s.recorded(t, s.key, idOf(link), "personal_link.created", "personal_link.claimed")
	})
	order := s.place(t)
	t.Run("a dispatch makes an order SENT, fills the shipment and is recorded", func(t *testing.T) {
		sent := s.dispatch(t, idOf(order))
		require.Equal(t, "SENT", sent["status"])
		require.Len(t, sent["shipments"], 1)
		s.changed(t, idOf(order), "PROCESSING", created, statusChanged)
	})
	t.Run("a later correction of the tracking is recorded as order.updated", func(t *testing.T) {
		_, err := s.orderOperations(t).CorrectTracking(t.Context(), &ordersv1.CorrectTrackingRequest{
			Actor: clerk, TenantId: s.tenant, OrderId: idOf(order),
			Shipment: &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-2", TrackingUrl: "https://carrier.example/T-2"},
		})
		require.NoError(t, err)
		events := s.recorded(t, s.key, idOf(order), created, statusChanged, "order.updated")
		require.JSONEq(t, s.get(t, s.key, "/orders/"+idOf(order)).body, string(events[2].Data))
		require.Contains(t, events[2].raw, "T-2")
	})
	t.Run("a delivery makes an order COMPLETED and is recorded", func(t *testing.T) {
		_, err := s.orderOperations(t).DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: clerk, TenantId: s.tenant, OrderId: idOf(order)})
		require.NoError(t, err)
		require.Equal(t, "COMPLETED", s.read(t, "/orders/"+idOf(order))["status"])
		s.changed(t, idOf(order), "SENT", created, statusChanged, "order.updated", statusChanged)
	})
	taken := s.place(t, ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small()))
	t.Run("an order in process is cancelled by a key with its reason, and it is recorded", func(t *testing.T) {
		cancelled := s.cancel(t, "/orders/"+idOf(taken))
		require.Equal(t, []any{"CANCELLED", "Another reward."}, []any{cancelled["status"], cancelled["cancellationReason"]})
		s.changed(t, idOf(taken), "PROCESSING", created, statusChanged)
	})
	t.Run("a cancellation releases the campaign's stock", func(t *testing.T) {
		require.Equal(t, []any{9.0}, left(s.offerings(t, campaign.GetId(), "")[0]))
	})
	t.Run("a second cancellation answers 200, keeps the first reason and records nothing", func(t *testing.T) {
		again := s.post(t, s.key, "/orders/"+idOf(taken)+":cancel", `{"reason": "Second."}`)
		require.Equal(t, http.StatusOK, again.status)
		require.Equal(t, "Another reward.", again.object(t)["cancellationReason"])
		marker := s.place(t)
		s.recorded(t, s.key, idOf(marker), created)
		s.recorded(t, s.key, idOf(taken), created, statusChanged)
	})
	for promise, actor := range map[string]*commonv1.Actor{"the tenant's team cancels too": s.member, "the operator cancels too": clerk} {
		t.Run(promise, func(t *testing.T) {
			order := s.place(t)
			_, err := s.orderOperations(t).CancelOrderAs(t.Context(), &ordersv1.CancelOrderAsRequest{
				Actor: actor, TenantId: s.tenant, OrderId: idOf(order), Reason: "Called in.",
			})
			require.NoError(t, err)
			require.Equal(t, "Called in.", s.read(t, "/orders/"+idOf(order))["cancellationReason"])
			s.changed(t, idOf(order), "PROCESSING", created, statusChanged)
		})
	}
	t.Run("the operator reopens an order cancelled by mistake, which is recorded", func(t *testing.T) {
		s.correct(t, idOf(taken), ordersv1.OrderStatus_ORDER_STATUS_PROCESSING)
		require.Equal(t, "PROCESSING", s.read(t, "/orders/"+idOf(taken))["status"])
		s.changed(t, idOf(taken), "CANCELLED", created, statusChanged, statusChanged)
	})
	s.promisesOfActions(t)
}

// promisesOfApproval is of a tenant whose orders wait.
func (s *shop) promisesOfApproval(t *testing.T) {
	order, other := s.place(t), s.place(t)
	t.Run("an order waits as REQUESTED where the tenant approves, and order.created is recorded", func(t *testing.T) {
		require.Equal(t, "REQUESTED", order["status"])
		s.recorded(t, s.key, idOf(order), "order.created")
	})
	t.Run("nobody else approves an order", func(t *testing.T) {
		for _, actor := range []*commonv1.Actor{s.member, clerk} {
			require.Equal(t, codes.PermissionDenied, status.Code(s.approve(t, actor, idOf(order))))
		}
		require.Equal(t, "REQUESTED", s.read(t, "/orders/"+idOf(order))["status"])
	})
	t.Run("an Administrator or Coordinator approves an order into PROCESSING", func(t *testing.T) {
		require.NoError(t, s.approve(t, s.administrator, idOf(order)))
		require.NoError(t, s.approve(t, s.coordinator, idOf(other)))
		for _, approved := range []map[string]any{order, other} {
			require.Equal(t, "PROCESSING", s.read(t, "/orders/"+idOf(approved))["status"])
		}
	})
	t.Run("an approval is recorded as order.status_changed from REQUESTED", func(t *testing.T) {
		s.changed(t, idOf(order), "REQUESTED", "order.created", "order.status_changed")
	})
	t.Run("an order that waits holds its unit of the campaign's stock", func(t *testing.T) {
		gift := s.putGift(t, "S")
		campaign := s.campaign(t, 1, gift)
		from := []change{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())}
		holder := s.place(t, from...)
		require.Equal(t, "REQUESTED", holder["status"])
		require.Equal(t, []any{0.0}, left(s.offerings(t, campaign.GetId(), "")[0]))
		s.refuseAs(t, http.StatusConflict, "out_of_stock", from...)
		s.cancel(t, "/orders/"+idOf(holder))
		require.Equal(t, []any{1.0}, left(s.offerings(t, campaign.GetId(), "")[0]))
		require.NoError(t, s.approve(t, s.coordinator, idOf(s.place(t, from...))))
		require.Equal(t, []any{0.0}, left(s.offerings(t, campaign.GetId(), "")[0]), "an approval takes no second unit")
	})
	t.Run("an order that waits is cancelled by a key with its reason, and it is recorded", func(t *testing.T) {
		refused := s.place(t)
		cancelled := s.cancel(t, "/orders/"+idOf(refused))
		require.Equal(t, []any{"CANCELLED", "Another reward."}, []any{cancelled["status"], cancelled["cancellationReason"]})
		s.changed(t, idOf(refused), "REQUESTED", "order.created", "order.status_changed")
	})
}
