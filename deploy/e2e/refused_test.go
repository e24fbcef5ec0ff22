package e2e_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// faults are the field errors of a problem, as field and code.
func faults(t *testing.T, problem map[string]any) []string {
	t.Helper()
	list, ok := problem["errors"].([]any)
	require.True(t, ok, "no errors in %v", problem)
	var out []string
	for _, one := range list {
		fault, ok := one.(map[string]any)
		require.True(t, ok)
		require.NotEmpty(t, fault["message"])
		out = append(out, fault["field"].(string)+" "+fault["code"].(string))
	}
	return out
}

func (p *platform) testRefusedOrders(t *testing.T) {
	key := p.env["GIFTING_KEY"]
	t.Run("every missing field is listed at once", func(t *testing.T) {
		problem := requireProblem(t, p.post(t, key, "/orders", `{}`), http.StatusBadRequest, "invalid_request")
		require.ElementsMatch(t, []string{
			"externalOrderId required", "items required", "client required", "recipient required",
		}, faults(t, problem))
	})
	t.Run("missing, mistyped and malformed fields are listed together", func(t *testing.T) {
		body := `{"externalOrderId": 7, "brandId": "no-uuid", "urgent": "yes", "items": [{"productId": [] }],
			"client": {"name": " "}, "recipient": {"name": "A", "phone": "0701234567", "address": {"street": "S", "city": "C", "country": "SE"}}}`
		problem := requireProblem(t, p.post(t, key, "/orders", body), http.StatusBadRequest, "invalid_request")
		require.ElementsMatch(t, []string{
			"externalOrderId invalid", "brandId invalid", "urgent invalid", "items[0].productId invalid", "client.name required",
			"recipient.phone invalid", "recipient.address.postalCode required",
		}, faults(t, problem))
	})
	for name, body := range map[string]string{
		"no JSON":           `{"externalOrderId": `,
		"an array":          `[]`,
		"a string":          `"order"`,
		"null":              `null`,
		"two values":        `{} {}`,
		"a doubled member":  `{"urgent": true, "urgent": false}`,
		"invalid UTF-8":     "{\"externalOrderId\": \"\xff\"}",
		"a NUL character":   `{"externalOrderId": "a\u0000b"}`,
		"nothing":           ``,
		"very deep nesting": strings.Repeat(`{"client":`, 20_000) + `1` + strings.Repeat(`}`, 20_000),
	} {
		t.Run("a body that is "+name+" is an invalid request", func(t *testing.T) {
			problem := requireProblem(t, p.post(t, key, "/orders", body), http.StatusBadRequest, "invalid_request")
			require.NotEmpty(t, faults(t, problem))
		})
	}
	for _, c := range []struct {
		name, code string
		status     int
		change     func(order map[string]any)
	}{
		{"neither brand nor campaign", "brand_required", http.StatusUnprocessableEntity, func(o map[string]any) { delete(o, "brandId") }},
		{"an unknown brand", "brand_not_found", http.StatusUnprocessableEntity, func(o map[string]any) { o["brandId"] = uuid.NewString() }},
		{"an unknown campaign", "campaign_not_found", http.StatusUnprocessableEntity, func(o map[string]any) { o["campaignId"] = uuid.NewString() }},
		{"an unknown gift", "product_not_available", http.StatusUnprocessableEntity, func(o map[string]any) {
			o["items"] = []any{map[string]any{"productId": uuid.NewString()}}
		}},
		{"a country the gift cannot go to", "not_deliverable_to_country", http.StatusUnprocessableEntity, func(o map[string]any) {
			o["recipient"].(map[string]any)["address"].(map[string]any)["country"] = "IN"
		}},
		{"variations the gift does not have", "invalid_variations", http.StatusUnprocessableEntity, func(o map[string]any) {
			o["items"].([]any)[0].(map[string]any)["variations"] = map[string]any{"Size": "XXL"}
		}},
		{"an unknown manager", "manager_not_found", http.StatusUnprocessableEntity, func(o map[string]any) {
			o["managerEmail"] = "nobody@nordlys.example"
		}},
		{"a dropdown value that is not among its options", "invalid_custom_fields", http.StatusUnprocessableEntity, func(o map[string]any) {
			o["customFields"] = []any{map[string]any{"fieldId": p.field(t, key, "DROPDOWN"), "textValue": "Funeral"}}
		}},
	} {
		t.Run("an order with "+c.name+" is refused", func(t *testing.T) {
			requireProblem(t, p.post(t, key, "/orders", p.order(t, c.change)), c.status, c.code)
		})
	}
	t.Run("a POST must name an idempotency key", func(t *testing.T) {
		blank := call{method: http.MethodPost, path: "/orders", key: key, body: p.order(t, nil), header: map[string]string{"Idempotency-Key": " "}}
		requireProblem(t, p.do(t, blank), http.StatusBadRequest, "idempotency_key_required")
		blank.header["Idempotency-Key"] = strings.Repeat("k", 256)
		requireProblem(t, p.do(t, blank), http.StatusBadRequest, "idempotency_key_invalid")
	})
	t.Run("a refused order leaves its idempotency key free", func(t *testing.T) {
		request := call{method: http.MethodPost, path: "/orders", key: key, idempotencyKey: rand.Text(), body: `{}`}
		requireProblem(t, p.do(t, request), http.StatusBadRequest, "invalid_request")
		request.body = p.order(t, nil)
		require.Equal(t, http.StatusCreated, p.do(t, request).status)
	})
}

// field is the id of the tenant's order field of the type.
func (p *platform) field(t *testing.T, key, kind string) string {
	t.Helper()
	tenant, _ := p.get(t, key, "/me").object(t)["tenant"].(map[string]any)
	for _, one := range tenant["customFields"].([]any) {
		if field, _ := one.(map[string]any); field["type"] == kind {
			return field["id"].(string)
		}
	}
	require.Fail(t, "no such field")
	return ""
}
