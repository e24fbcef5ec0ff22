package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// promiseOfSnapshots reads an order and a link after each of their changes, and the events only after the last one. The shop
// approves.
func (s *shop) promiseOfSnapshots(t *testing.T) {
	const created, updated, statusChanged = "order.created", "order.updated", "order.status_changed"
	t.Run("each event shows its order as it was after that change, at the time of the change", func(t *testing.T) {
		order := s.place(t)
		path := "/orders/" + idOf(order)
		now := func() map[string]any { return s.read(t, path) }
		then := []map[string]any{order}
		require.NoError(t, s.approve(t, s.coordinator, idOf(order)))
		then = append(then, now())
		then = append(then, s.update(t, now(), `"urgent": true`))
		then = append(then, s.update(t, now(), `"courierComment": "Ring."`))
		then = append(then, s.dispatch(t, idOf(order)))
		s.correct(t, idOf(order), ordersv1.OrderStatus_ORDER_STATUS_PROCESSING)
		then = append(then, now())
		then = append(then, s.cancel(t, path))
		events := s.recorded(t, s.key, idOf(order), created, statusChanged, updated, updated, statusChanged, statusChanged, statusChanged)
		for i, e := range events {
			data := answer{body: string(e.Data)}.object(t)
			if e.Type == statusChanged {
				require.Equal(t, then[i-1]["status"], data["previousStatus"])
				data, _ = data["order"].(map[string]any)
			}
			require.Equal(t, then[i], data)
			require.InDelta(t, i, data["version"], 0)
			require.Equal(t, then[i]["updatedAt"], answer{body: e.raw}.object(t)["occurredAt"])
		}
	})
	t.Run("each event shows its link as it was after that change, at the time of the change", func(t *testing.T) {
		then := []map[string]any{s.link(t)}
		path := "/personal-links/" + idOf(then[0])
		require.NoError(t, s.approveLink(t, s.coordinator, then[0]))
		then = append(then, s.read(t, path))
		then = append(then, s.cancel(t, path))
		for i, e := range s.recorded(t, s.key, idOf(then[0]), "personal_link.created", "personal_link.approved", "personal_link.cancelled") {
			require.Equal(t, then[i], answer{body: string(e.Data)}.object(t))
			require.Equal(t, then[i]["updatedAt"], answer{body: e.raw}.object(t)["occurredAt"])
		}
	})
}
