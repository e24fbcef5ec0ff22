package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testBadInput sends what nobody should: every answer is a problem below 500.
func (p *platform) testBadInput(t *testing.T) {
	key := p.newKey(t, "").GetApiKey()
	for _, path := range []string{
		"/orders?limit=0", "/orders?limit=101", "/orders?limit=x", "/orders?limit=99999999999999999999", "/orders?limit=1&limit=2",
		"/orders?after=x", "/orders?after=%00", "/orders?after=" + strings.Repeat("A", 5000), "/orders?status=NEW", "/orders?status=",
		"/orders?status=1", "/orders?brandId=1", "/orders?updatedSince=yesterday", "/orders?updatedSince=2026-01-01T00:00:00+02:00",
		"/orders?updatedSince=0000-00-00T00:00:00Z", "/orders?externalOrderId=%00", "/orders?externalOrderId=%ff", "/orders?limit=%zz",
		"/events?after=x", "/events?limit=-1", "/events?after=" + strings.Repeat("A", 64),
		"/catalog/products", "/catalog/products?country=xx", "/catalog/products?country=SWE", "/catalog/products?country=SE&locale=xx-XX",
		"/catalog/products?country=SE&updatedSince=x", "/catalog/products?country=SE&after=e30", "/catalog/products?country=%00",
		"/catalog/products/1?country=SE", "/catalog/products/00000000-0000-0000-0000-000000000000?country=SE",
		"/catalog/categories?locale=%00", "/personal-links?status=x", "/personal-links?campaignId=x", "/personal-links?after=x",
		"/orders/00000000-0000-0000-0000-000000000000", "/orders/%00", "/orders/%2e%2e", "/orders/..%2f", "/orders/" + strings.Repeat("a", 4000),
		"/orders/:cancel", "/nothing", "/", "", "//", "/orders/", "/webhooks:test", "/webhooks:nothing", "/ORDERS", "/orders%20",
	} {
		t.Run("GET "+shortened(path), func(t *testing.T) {
			a := p.get(t, key, path)
			requireRefused(t, a)
		})
	}
	for name, change := range badOrders() {
		t.Run("POST /orders with "+name, func(t *testing.T) {
			requireRefused(t, p.post(t, key, "/orders", p.order(t, change)))
		})
	}
	for name, c := range map[string]call{
		"another media type":   {method: http.MethodPost, path: "/orders", body: "a=b", header: map[string]string{"Content-Type": "text/plain"}},
		"no media type":        {method: http.MethodPost, path: "/orders", body: "{}", header: map[string]string{"Content-Type": ""}},
		"nothing acceptable":   {method: http.MethodGet, path: "/orders", header: map[string]string{"Accept": "text/html"}},
		"an unreadable Accept": {method: http.MethodGet, path: "/me", header: map[string]string{"Accept": "application/json;q=0, ;;=,"}},
		"DELETE":               {method: http.MethodDelete, path: "/orders"},
		"PUT":                  {method: http.MethodPut, path: "/me"},
		"PATCH of nothing":     {method: http.MethodPatch, path: "/nothing"},
		"an override":          {method: http.MethodPost, path: "/orders", body: "{}", header: map[string]string{"X-HTTP-Method-Override": "GET"}},
	} {
		t.Run("a request with "+name, func(t *testing.T) {
			c.key = key
			requireRefused(t, p.do(t, c))
		})
	}
	t.Run("a body above 10 MB is too large", func(t *testing.T) {
		large := `{"externalOrderId":"` + strings.Repeat("x", 10<<20) + `"}`
		requireProblem(t, p.post(t, key, "/orders", large), http.StatusRequestEntityTooLarge, "payload_too_large")
	})
}

// badOrders each have one fault in an order that is otherwise good.
func badOrders() map[string]func(order map[string]any) {
	set := func(field string, value any) func(map[string]any) {
		return func(order map[string]any) { order[field] = value }
	}
	recipient := func(field string, value any) func(map[string]any) {
		return func(order map[string]any) { order["recipient"].(map[string]any)[field] = value }
	}
	item := func(value any) func(map[string]any) { return set("items", []any{value}) }
	custom := func(amount any, currency any) func(map[string]any) {
		return item(map[string]any{"customProductName": "x", "budget": map[string]any{"amount": amount, "currency": currency}})
	}
	long := strings.Repeat("å", 3000)
	return map[string]func(order map[string]any){
		"a long external id":          set("externalOrderId", long),
		"an object as external id":    set("externalOrderId", map[string]any{}),
		"a blank external id":         set("externalOrderId", "\t \u00a0"),
		"a long recipient id":         set("externalRecipientId", long),
		"no items":                    set("items", []any{}),
		"two items":                   set("items", []any{map[string]any{}, map[string]any{}}),
		"items as object":             set("items", map[string]any{"0": 1}),
		"an empty item":               item(map[string]any{}),
		"null as item":                item(nil),
		"a number as item":            item(7),
		"a gift and a custom request": item(map[string]any{"productId": "11111111-1111-4111-8111-111111111111", "customProductName": "x"}),
		"a null variation":            item(map[string]any{"productId": "11111111-1111-4111-8111-111111111111", "variations": map[string]any{"a": nil}}),
		"a list as variations":        item(map[string]any{"productId": "11111111-1111-4111-8111-111111111111", "variations": []any{}}),
		"an amount that is no number": custom("much", "SEK"),
		"a negative amount":           custom("-1", "SEK"),
		"an amount of nothing":        custom(0, "SEK"),
		"an immense amount":           custom("1e999999999", "SEK"),
		"too many decimals":           custom("1.001", "SEK"),
		"another currency":            custom("1.00", "EUR"),
		"a currency as number":        custom("1.00", 752),
		"NaN as amount":               custom("NaN", "SEK"),
		"a client as list":            set("client", []any{}),
		"a client without name":       set("client", map[string]any{}),
		"a client with odd e-mail":    set("client", map[string]any{"name": "x", "email": "@@"}),
		"a recipient as string":       set("recipient", "x"),
		"letters in the phone":        recipient("phone", "+46CALLME"),
		"a phone of a plus":           recipient("phone", "+"),
		"a long phone":                recipient("phone", "+46"+strings.Repeat("1", 100)),
		"an unknown calling code":     recipient("phone", "+9991234567"),
		"a long name":                 recipient("name", long),
		"no address":                  recipient("address", nil),
		"an unknown country":          recipient("address", map[string]any{"street": "s", "city": "c", "country": "XX", "postalCode": "1"}),
		"a country in lower case":     recipient("address", map[string]any{"street": "s", "city": "c", "country": "se", "postalCode": "1"}),
		"a long comment":              set("courierComment", long),
		"a number as comment":         set("courierComment", 1),
		"a campaign that is no UUID":  set("campaignId", "{}"),
		"urgency as number":           set("urgent", 1),
		"an odd manager":              set("managerEmail", "x"),
		"a long customization":        set("customization", map[string]any{"details": long}),
		"a customization as string":   set("customization", "x"),
		"answers as object":           set("customFields", map[string]any{}),
		"an answer to no UUID":        set("customFields", []any{map[string]any{"fieldId": "x"}}),
		"an answer without field":     set("customFields", []any{map[string]any{"textValue": "x"}}),
		"null as answer":              set("customFields", []any{nil}),
	}
}

func requireRefused(t *testing.T, a answer) {
	t.Helper()
	require.GreaterOrEqual(t, a.status, http.StatusBadRequest, a.body)
	require.Less(t, a.status, http.StatusInternalServerError, a.body)
	requireProblem(t, a, a.status, a.object(t)["code"].(string))
}

func shortened(path string) string {
	const longest = 60
	if len(path) > longest {
		return path[:longest] + "…"
	}
	return path
}
