package e2e_test

import (
	"crypto/rand"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func (p *platform) testPlacing(t *testing.T) {
	key := p.env["GIFTING_KEY"]
	body := p.order(t, nil)
	request := call{method: http.MethodPost, path: "/orders", key: key, idempotencyKey: rand.Text(), body: body}
	first := p.do(t, request)
	require.Equal(t, http.StatusCreated, first.status, first.body)
	order := first.object(t)
	id, _ := order["id"].(string)

	t.Run("answers the order without personal data", func(t *testing.T) {
		require.NoError(t, uuid.Validate(id))
		require.Equal(t, "PROCESSING", order["status"])
		require.InDelta(t, 0, order["version"], 0)
		require.Equal(t, "SE", order["deliveryCountry"])
		require.Equal(t, "API", order["source"])
		requireNoPersonalData(t, first.body)
	})
	t.Run("the same request again answers the same bytes", func(t *testing.T) {
		again := p.do(t, request)
		require.Equal(t, http.StatusCreated, again.status)
		require.Equal(t, first.body, again.body)
		require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
		require.Empty(t, first.header.Get("Idempotent-Replayed"))
	})
	t.Run("another body under the same key is refused", func(t *testing.T) {
		other := request
		other.body = p.order(t, nil)
		requireProblem(t, p.do(t, other), http.StatusUnprocessableEntity, "idempotency_key_reused")
	})
	t.Run("the same external id under another key names the order that has it", func(t *testing.T) {
		problem := requireProblem(t, p.post(t, key, "/orders", body), http.StatusConflict, "external_order_id_conflict")
		require.Equal(t, id, problem["orderId"])
	})
	t.Run("the order reads as it was answered, alone and in the list", func(t *testing.T) {
		read := p.get(t, key, "/orders/"+id)
		require.Equal(t, http.StatusOK, read.status)
		require.JSONEq(t, first.body, read.body)
		list := p.get(t, key, "/orders?externalOrderId="+order["externalOrderId"].(string))
		require.Equal(t, http.StatusOK, list.status)
		require.JSONEq(t, `{"items":[`+first.body+`],"nextCursor":null}`, list.body)
	})
	t.Run("an order of the campaign takes its brand", func(t *testing.T) {
		placed := p.post(t, key, "/orders", p.order(t, func(order map[string]any) {
			delete(order, "brandId")
			order["campaignId"] = p.env["GIFTING_CAMPAIGN_ID"]
		}))
		require.Equal(t, http.StatusCreated, placed.status, placed.body)
		require.Equal(t, p.env["GIFTING_BRAND_ID"], placed.object(t)["brandId"])
	})
	t.Run("a custom request within the tenant's currency is taken", func(t *testing.T) {
		placed := p.post(t, key, "/orders", p.order(t, func(order map[string]any) {
			order["items"] = []any{map[string]any{
				"customProductName": "A signed jersey", "budget": map[string]any{"amount": 1500.5, "currency": "SEK"},
			}}
		}))
		require.Equal(t, http.StatusCreated, placed.status, placed.body)
	})
	t.Run("where the tenant approves, the order waits", func(t *testing.T) {
		approving := p.env["GIFTING_KEY_APPROVAL"]
		placed := p.post(t, approving, "/orders", p.order(t, func(order map[string]any) {
			order["brandId"] = p.brandOf(t, approving)
		}))
		require.Equal(t, http.StatusCreated, placed.status, placed.body)
		require.Equal(t, "REQUESTED", placed.object(t)["status"])
	})
}
