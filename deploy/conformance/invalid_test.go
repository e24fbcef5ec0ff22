package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

// testInvalidInput sends what nobody should send.
func testInvalidInput(t *testing.T, p *platform) {
	f := newFixture(t, p)
	refused := func(t *testing.T, a answer, what any) {
		t.Helper()
		require.Less(t, a.Status, http.StatusInternalServerError, "%v: %s", what, a.Body)
		a.Problem(t, problem.Code(a.Object(t)["code"].(string)))
	}
	requirement(t, "PLA-57", func(t *testing.T) {
		id := freshText(30)
		for what, invalid := range invalidOrders() {
			a := f.Post(t, f.key, "/orders", f.body(t, with("externalOrderId", id), invalid))
			require.GreaterOrEqual(t, a.Status, http.StatusBadRequest, what)
			refused(t, a, what)
		}
		require.Empty(t, f.list(t, f.key, "/orders?externalOrderId="+id))
	})
	requirement(t, "ERR-9", func(t *testing.T) {
		for _, path := range []string{
			"/orders?limit=99999999999999999999", "/orders?limit=1&limit=2", "/orders?after=%00", "/orders?after=" + strings.Repeat("A", 5000),
			"/orders?status=NEW", "/orders?status=", "/orders?status=1", "/orders?brandId=1", "/orders?updatedSince=yesterday",
			"/orders?updatedSince=0000-00-00T00:00:00Z", "/orders?externalOrderId=%00", "/orders?externalOrderId=%ff", "/orders?limit=%zz",
			"/events?after=" + strings.Repeat("A", 64), "/catalog/products?country=%00", "/catalog/products?country=SE&after=e30",
			"/catalog/products?country=SE&locale=xx-XX", "/catalog/products/00000000-0000-0000-0000-000000000000?country=SE",
			"/catalog/categories?locale=%00", "/personal-links?status=x", "/personal-links?campaignId=x",
			"/orders/00000000-0000-0000-0000-000000000000", "/orders/%00", "/orders/%2e%2e", "/orders/..%2f", "/orders/" + strings.Repeat("a", 4000),
			"/orders/:cancel", "/", "", "//", "/orders/", "/webhooks:test", "/webhooks:nothing", "/ORDERS", "/orders%20",
		} {
			refused(t, f.Get(t, f.key, path), path)
		}
		for _, c := range []call{
			{Method: http.MethodPost, Path: "/orders", Body: "{}", Header: map[string]string{"Content-Type": ""}},
			{Method: http.MethodPost, Path: "/orders", Body: "{}", Header: map[string]string{"X-HTTP-Method-Override": "GET"}},
			{Method: http.MethodGet, Path: "/me", Header: map[string]string{"Accept": "application/json;q=0, ;;=,"}},
			{Method: http.MethodPut, Path: "/me"},
			{Method: http.MethodPatch, Path: "/nothing"},
			{Method: http.MethodPost, Path: "/orders", Body: strings.Repeat(`{"client":`, 20_000) + `1` + strings.Repeat(`}`, 20_000)},
		} {
			c.Key = f.key
			refused(t, f.Do(t, c), c.Method+" "+c.Path)
		}
	})
}

// invalidOrders each have one violation in an order that is otherwise valid.
func invalidOrders() map[string]change {
	long, product := strings.Repeat("å", 3000), uuid.NewString()
	item := func(value any) change { return with("items", []any{value}) }
	address := func(country string) change {
		return with("recipient.address", record{"street": "s", "city": "c", "postalCode": "1", "country": country})
	}
	return map[string]change{
		"a long external id":          with("externalOrderId", long),
		"an object as external id":    with("externalOrderId", record{}),
		"a blank external id":         with("externalOrderId", "\t \u00a0"),
		"a long recipient id":         with("externalRecipientId", long),
		"no items":                    with("items", []any{}),
		"two items":                   with("items", []any{record{}, record{}}),
		"items as object":             with("items", record{"0": 1}),
		"an empty item":               item(record{}),
		"null as item":                item(nil),
		"a number as item":            item(7),
		"a gift and a custom request": item(record{"productId": product, "customProductName": "x"}),
		"a null variation":            item(record{"productId": product, "variations": record{"a": nil}}),
		"a list as variations":        item(record{"productId": product, "variations": []any{}}),
		"an amount that is no number": custom("much", "SEK"),
		"a negative amount":           custom("-1", "SEK"),
		"an amount of nothing":        custom(0, "SEK"),
		"an immense amount":           custom("1e999999999", "SEK"),
		"too many decimals":           custom("1.001", "SEK"),
		"another currency":            custom("1.00", "EUR"),
		"a currency as number":        with("items", []any{record{"customProductName": "x", "budget": record{"amount": "1.00", "currency": 752}}}),
		"NaN as amount":               custom("NaN", "SEK"),
		"a client as list":            with("client", []any{}),
		"a client without name":       with("client", record{}),
		"an invalid e-mail":           with("client.email", "@@"),
		"a recipient as string":       with("recipient", "x"),
		"letters in the phone":        with("recipient.phone", "+46CALLME"),
		"a phone of a plus":           with("recipient.phone", "+"),
		"a long phone":                with("recipient.phone", "+46"+strings.Repeat("1", 100)),
		"an unknown calling code":     with("recipient.phone", "+9991234567"),
		"a long name":                 with("recipient.name", long),
		"no address":                  with("recipient.address", nil),
		"an unknown country":          address("XX"),
		"a country in lower case":     address("se"),
		"a long comment":              with("courierComment", long),
		"a number as comment":         with("courierComment", 1),
		"a campaign that is no UUID":  with("campaignId", "{}"),
		"urgency as number":           with("urgent", 1),
		"an invalid manager":          with("managerEmail", "x"),
		"a long customization":        with("customization", record{"details": long}),
		"a customization as string":   with("customization", "x"),
		"answers as object":           with("customFields", record{}),
		"an answer to no UUID":        with("customFields", []any{record{"fieldId": "x"}}),
		"an answer without field":     with("customFields", []any{record{"textValue": "x"}}),
		"null as answer":              with("customFields", []any{nil}),
	}
}
