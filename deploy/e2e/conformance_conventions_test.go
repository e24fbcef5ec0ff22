package e2e_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func (p *platform) promisesOfConventions(t *testing.T) {
	s := p.newShop(t, false)
	order := s.place(t)
	t.Run("an action is a suffix of the path after a colon", func(t *testing.T) {
		for _, path := range []string{":cancel", ":update-delivery"} {
			requireProblem(t, s.post(t, s.key, "/orders/"+idOf(order)+path, "{}"), http.StatusBadRequest, "invalid_request")
			requireProblem(t, s.post(t, s.key, "/orders/"+idOf(order)+strings.Replace(path, ":", "/", 1), "{}"), http.StatusNotFound, "not_found")
		}
		requireProblem(t, s.post(t, s.key, "/personal-links:create-batch", "{}"), http.StatusBadRequest, "invalid_request")
		require.Equal(t, http.StatusOK, s.post(t, s.key, "/webhooks:test", "").status)
	})
	t.Run("a POST must have an Idempotency-Key", func(t *testing.T) {
		for _, path := range []string{
			"/orders", "/orders/" + idOf(order) + ":cancel", "/orders/" + idOf(order) + ":update-delivery", "/orders/" + idOf(order) + "/messages",
			"/personal-links:create-batch", "/personal-links/" + uuid.NewString() + ":cancel", "/webhooks:test",
		} {
			bare := call{method: http.MethodPost, path: path, key: s.key, body: "{}", header: map[string]string{"Idempotency-Key": ""}}
			requireProblem(t, s.do(t, bare), http.StatusBadRequest, "idempotency_key_required")
		}
	})
	t.Run("the same key with the same request has the same result and no second effect", func(t *testing.T) {
		dropped, withdrawn := s.place(t), s.link(t)
		for path, body := range map[string]string{
			"/orders": s.body(t), "/orders/" + idOf(order) + "/messages": `{"body": "Once."}`, batches: s.batchOf(t),
			"/orders/" + idOf(order) + ":update-delivery":    `{"expectedVersion": 0, "urgent": true}`,
			"/orders/" + idOf(dropped) + ":cancel":           `{"reason": "Other."}`,
			"/personal-links/" + idOf(withdrawn) + ":cancel": `{"reason": "Other."}`,
		} {
			request := call{method: http.MethodPost, path: path, key: s.key, idempotencyKey: rand.Text(), body: body}
			first, second := s.do(t, request), s.do(t, request)
			require.Less(t, first.status, 300, first.body)
			require.Equal(t, first.body, second.body)
			require.Equal(t, first.status, second.status)
			require.Equal(t, "true", second.header.Get("Idempotent-Replayed"))
		}
		require.Len(t, s.list(t, s.key, "/orders"), 3)
		require.Len(t, s.list(t, s.key, "/personal-links"), 2)
		require.Len(t, s.messages(t, s.key, idOf(order)), 1)
		require.InDelta(t, 1, s.read(t, "/orders/"+idOf(order))["version"], 0)
		s.recorded(t, s.key, idOf(dropped), "order.created", "order.status_changed")
		s.recorded(t, s.key, idOf(withdrawn), "personal_link.created", "personal_link.cancelled")
	})
	t.Run("a repeated cancellation answers as it did at first, and leaves an order that was reopened since", func(t *testing.T) {
		path := "/orders/" + idOf(s.place(t))
		request := call{method: http.MethodPost, path: path + ":cancel", key: s.key, idempotencyKey: rand.Text(), body: `{"reason": "Other."}`}
		first := s.do(t, request)
		s.correct(t, path[len("/orders/"):], ordersv1.OrderStatus_ORDER_STATUS_PROCESSING)
		reopened, second := s.read(t, path), s.do(t, request)
		require.Equal(t, []any{http.StatusOK, first.body}, []any{second.status, second.body})
		require.Equal(t, "CANCELLED", second.object(t)["status"])
		require.Equal(t, "PROCESSING", reopened["status"])
		require.Equal(t, reopened, s.read(t, path))
	})
	t.Run("the body of a POST must be application/json", func(t *testing.T) {
		for _, path := range []string{"/orders", "/orders/" + idOf(order) + ":cancel", "/orders/" + idOf(order) + "/messages", batches, "/webhooks:test"} {
			form := call{method: http.MethodPost, path: path, key: s.key, body: "a=b"}
			form.header = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
			requireProblem(t, s.do(t, form), http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
	})
	s.promisesOfLists(t, order)
	t.Run("an id in the path that is no UUID is not found", func(t *testing.T) {
		for _, path := range []string{
			"/orders/42", "/orders/42/messages", "/personal-links/42", "/campaigns/42", "/catalog/products/42?country=SE", "/catalog/images/42",
		} {
			requireProblem(t, s.get(t, s.key, path), http.StatusNotFound, "not_found")
		}
		for _, path := range []string{"/orders/42:cancel", "/orders/42:update-delivery", "/personal-links/42:cancel", "/orders/42/messages"} {
			requireProblem(t, s.post(t, s.key, path, "{}"), http.StatusNotFound, "not_found")
		}
	})
	t.Run("campaigns, categories and the single gift have paths of their own", func(t *testing.T) {
		for _, path := range []string{"/campaigns", "/catalog/categories", "/catalog/products/" + p.env["GIFTING_PRODUCT_ID"] + "?country=SE"} {
			require.Equal(t, http.StatusOK, s.get(t, s.key, path).status, path)
		}
	})
}
