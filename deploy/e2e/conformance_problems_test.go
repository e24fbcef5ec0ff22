package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func (p *platform) promisesOfProblems(t *testing.T) {
	s := p.newShop(t, false)
	order := s.standing(t, "SENT")
	problems := []map[string]any{
		requireProblem(t, s.get(t, "", "/me"), http.StatusUnauthorized, "invalid_api_key"),
		requireProblem(t, s.get(t, s.key, "/nothing"), http.StatusNotFound, "not_found"),
		requireProblem(t, s.post(t, s.key, "/orders", "{}"), http.StatusBadRequest, "invalid_request"),
		s.refuseAs(t, http.StatusUnprocessableEntity, "brand_required", without("brandId")),
		requireProblem(t, s.post(t, s.key, "/orders/"+idOf(order)+":cancel", `{"reason": "x"}`), http.StatusConflict, "not_cancellable"),
	}
	t.Run("type leads to the code's place in the documentation", func(t *testing.T) {
		for _, problem := range problems {
			address, anchor, ok := strings.Cut(problem["type"].(string), "#")
			require.True(t, ok)
			require.Equal(t, problem["code"], anchor)
			require.Contains(t, open(t, address).body, `id="`+anchor+`"`)
		}
	})
	t.Run("title is the code's short label", func(t *testing.T) {
		again := s.refuseAs(t, http.StatusUnprocessableEntity, "brand_required", without("brandId"), with("urgent", true))
		require.Equal(t, problems[3]["title"], again["title"])
		for _, problem := range problems {
			require.NotEmpty(t, problem["title"])
			require.Less(t, len(problem["title"].(string)), 60)
		}
	})
	t.Run("status is the HTTP status", func(t *testing.T) {
		for i, status := range []int{401, 404, 400, 422, 409} {
			require.InDelta(t, status, problems[i]["status"], 0)
		}
	})
	t.Run("code is in snake_case and is one of the table", func(t *testing.T) {
		for _, problem := range problems {
			require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, problem["code"])
		}
	})
	t.Run("detail is text for people", func(t *testing.T) {
		for _, problem := range problems {
			require.Contains(t, problem["detail"], " ")
		}
	})
	t.Run("errors has field, code and message of each failure", func(t *testing.T) {
		list, _ := problems[2]["errors"].([]any)
		require.Len(t, list, 4)
		for _, fault := range list {
			require.ElementsMatch(t, []string{"field", "code", "message"}, namesOf(fault.(map[string]any)))
		}
	})
	t.Run("currentStatus stands on not_editable and not_cancellable", func(t *testing.T) {
		require.Equal(t, "SENT", problems[4]["currentStatus"])
		require.Equal(t, "SENT", requireProblem(t, s.sendUpdate(t, order, `"urgent": true`), http.StatusConflict, "not_editable")["currentStatus"])
		require.NotContains(t, problems[3], "currentStatus")
	})
	t.Run("orderId stands on external_order_id_conflict when the key sees the order", func(t *testing.T) {
		taken := with("externalOrderId", order["externalOrderId"])
		require.Equal(t, order["id"], s.refuseAs(t, http.StatusConflict, "external_order_id_conflict", taken)["orderId"])
		body := s.body(t, taken, with("brandId", s.other))
		require.NotContains(t, s.post(t, s.keyOf(t, s.other), "/orders", body).object(t), "orderId")
	})
}
