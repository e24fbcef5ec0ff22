package e2e_test

import (
	"crypto/rand"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// orderFault spoils one thing of an order that is well formed.
type orderFault struct {
	name, code string
	spoil      func(order map[string]any)
	// group: faults of one group exclude each other.
	group string
}

// orderFaults are in the order in which they are answered: those of the request come first, then the
// codes as they stand in the error table of the API specification, 422 before 409.
func (p *platform) orderFaults(t *testing.T, key, taken string) []orderFault {
	t.Helper()
	dropdown := p.field(t, key, "DROPDOWN")
	item := func(o map[string]any) map[string]any { return o["items"].([]any)[0].(map[string]any) }
	return []orderFault{
		{name: "a wrong type", code: "invalid_request", spoil: func(o map[string]any) { o["urgent"] = "yes" }},
		{name: "a missing field", code: "invalid_request", spoil: func(o map[string]any) { delete(o, "client") }},
		{name: "no brand", group: "brand", code: "brand_required", spoil: func(o map[string]any) { delete(o, "brandId") }},
		{name: "an unknown brand", group: "brand", code: "brand_not_found", spoil: func(o map[string]any) { o["brandId"] = uuid.NewString() }},
		{name: "an unknown campaign", group: "brand", code: "campaign_not_found", spoil: func(o map[string]any) {
			delete(o, "brandId")
			o["campaignId"] = uuid.NewString()
		}},
		{name: "an unknown gift", group: "gift", code: "product_not_available", spoil: func(o map[string]any) { item(o)["productId"] = uuid.NewString() }},
		{name: "a country out of reach", group: "gift", code: "not_deliverable_to_country", spoil: func(o map[string]any) {
			o["recipient"].(map[string]any)["address"].(map[string]any)["country"] = "IN"
		}},
		{name: "unknown variations", code: "invalid_variations", spoil: func(o map[string]any) { item(o)["variations"] = map[string]any{"Size": "XXL"} }},
		{name: "an answer that does not fit", code: "invalid_custom_fields", spoil: func(o map[string]any) {
			o["customFields"] = []any{map[string]any{"fieldId": dropdown, "textValue": "Funeral"}}
		}},
		{name: "an unknown manager", code: "manager_not_found", spoil: func(o map[string]any) { o["managerEmail"] = "nobody@nordlys.example" }},
		{name: "a taken id", code: "external_order_id_conflict", spoil: func(o map[string]any) { o["externalOrderId"] = taken }},
	}
}

// testOrderOfChecks sends orders with two faults each. The edge's part of the order is tested with
// the gateway.
func (p *platform) testOrderOfChecks(t *testing.T) {
	key := p.newKey(t, "").GetApiKey()
	taken, used := rand.Text(), rand.Text()
	first := call{
		method: http.MethodPost, path: "/orders", key: key, idempotencyKey: used,
		body: p.order(t, func(o map[string]any) { o["externalOrderId"] = taken }),
	}
	require.Equal(t, http.StatusCreated, p.do(t, first).status)

	faults := p.orderFaults(t, key, taken)
	for i, earlier := range faults {
		t.Run("a used idempotency key before "+earlier.name, func(t *testing.T) {
			again := first
			again.body = p.order(t, func(o map[string]any) {
				o["courierComment"] = "changed"
				earlier.spoil(o)
			})
			requireProblem(t, p.do(t, again), http.StatusUnprocessableEntity, "idempotency_key_reused")
		})
		for _, later := range faults[i+1:] {
			if earlier.group != "" && earlier.group == later.group {
				continue
			}
			t.Run(earlier.name+" before "+later.name, func(t *testing.T) {
				a := p.post(t, key, "/orders", p.order(t, func(o map[string]any) {
					later.spoil(o)
					earlier.spoil(o)
				}))
				require.Equal(t, earlier.code, a.object(t)["code"], a.body)
			})
		}
	}
}
