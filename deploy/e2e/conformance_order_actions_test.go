package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// standing places an order and has the operator set its status.
func (s *shop) standing(t *testing.T, in string) map[string]any {
	t.Helper()
	order := s.place(t)
	if in != "PROCESSING" {
		s.correct(t, idOf(order), ordersv1.OrderStatus(ordersv1.OrderStatus_value["ORDER_STATUS_"+in]))
	}
	return s.read(t, "/orders/"+idOf(order))
}

// promisesOfActions tries each action of a key on an order in each status.
func (s *shop) promisesOfActions(t *testing.T) {
	for promise, in := range map[string]string{
		"a REQUESTED order is read": "REQUESTED", "a PROCESSING order is read": "PROCESSING", "a SENT order is read": "SENT",
		"a COMPLETED order is read": "COMPLETED", "a CANCELLED order is read": "CANCELLED",
	} {
		t.Run(promise, func(t *testing.T) { require.Equal(t, in, s.standing(t, in)["status"]) })
	}
	for promise, in := range map[string]string{
		"a REQUESTED order takes messages": "REQUESTED", "a PROCESSING order takes messages": "PROCESSING", "a SENT order takes messages": "SENT",
		"a COMPLETED order takes messages": "COMPLETED", "a CANCELLED order takes messages": "CANCELLED",
	} {
		t.Run(promise, func(t *testing.T) {
			order := s.standing(t, in)
			posted := s.post(t, s.key, "/orders/"+idOf(order)+"/messages", `{"body": "When does it come?"}`)
			require.Equal(t, http.StatusCreated, posted.status, posted.body)
			require.Equal(t, order, s.read(t, "/orders/"+idOf(order)), "a message leaves the order as it is")
		})
	}
	for promise, in := range map[string]string{
		"a REQUESTED order is not corrected": "REQUESTED", "a SENT order is not corrected": "SENT",
		"a COMPLETED order is not corrected": "COMPLETED", "a CANCELLED order is not corrected": "CANCELLED",
	} {
		t.Run(promise, func(t *testing.T) { s.refusesIn(t, in, ":update-delivery", "not_editable") })
	}
	for promise, in := range map[string]string{"a SENT order is not cancelled": "SENT", "a COMPLETED order is not cancelled": "COMPLETED"} {
		t.Run(promise, func(t *testing.T) { s.refusesIn(t, in, ":cancel", "not_cancellable") })
	}
	t.Run("a PROCESSING order is corrected", func(t *testing.T) {
		order := s.standing(t, "PROCESSING")
		require.Equal(t, true, s.update(t, order, `"urgent": true`)["urgent"])
	})
	for promise, in := range map[string]string{"a REQUESTED order is cancelled": "REQUESTED", "a PROCESSING order is cancelled": "PROCESSING"} {
		t.Run(promise, func(t *testing.T) {
			require.Equal(t, "CANCELLED", s.cancel(t, "/orders/"+idOf(s.standing(t, in)))["status"])
		})
	}
	t.Run("a CANCELLED order stays as it is when cancelled", func(t *testing.T) {
		order := s.standing(t, "CANCELLED")
		require.Equal(t, order, s.cancel(t, "/orders/"+idOf(order)))
	})
}

// refusesIn tries the action on an order in the status.
func (s *shop) refusesIn(t *testing.T, in, action, code string) {
	t.Helper()
	order := s.standing(t, in)
	body := fmt.Sprintf(`{"expectedVersion": %v, "urgent": true, "reason": "Late."}`, order["version"])
	problem := requireProblem(t, s.post(t, s.key, "/orders/"+idOf(order)+action, body), http.StatusConflict, code)
	require.Equal(t, in, problem["currentStatus"])
	require.Equal(t, order, s.read(t, "/orders/"+idOf(order)))
}

// update corrects the delivery of the order as it was read.
func (s *shop) update(t *testing.T, order map[string]any, members string) map[string]any {
	t.Helper()
	a := s.sendUpdate(t, order, members)
	require.Equal(t, http.StatusOK, a.status, a.body)
	return a.object(t)
}

func (s *shop) sendUpdate(t *testing.T, order map[string]any, members string) answer {
	t.Helper()
	body := fmt.Sprintf(`{"expectedVersion": %v, %s}`, order["version"], members)
	return s.post(t, s.key, "/orders/"+idOf(order)+":update-delivery", body)
}
