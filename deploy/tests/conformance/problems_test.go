package conformance_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/problem"
)

func testProblems(t *testing.T, p *platform) {
	f := newFixture(t, p)
	order := f.orderIn(t, "SENT")
	problems := []record{
		f.Get(t, "", "/me").Problem(t, "invalid_api_key"),
		f.Get(t, f.key, "/nothing").Problem(t, "not_found"),
		f.Post(t, f.key, "/orders", "{}").Problem(t, "invalid_request"),
		f.refuse(t, "brand_required", without("brandId")),
		f.Post(t, f.key, "/orders/"+idOf(order)+":cancel", `{"reason": "x"}`).Problem(t, "not_cancellable"),
	}
	requirement(t, "ERR-1", func(t *testing.T) {
		for _, problem := range problems {
			address, anchor, ok := strings.Cut(problem["type"].(string), "#")
			require.True(t, ok)
			require.Equal(t, problem["code"], anchor)
			require.Contains(t, harness.Visit(t, address).Body, `id="`+anchor+`"`)
		}
	})
	requirement(t, "ERR-2", func(t *testing.T) {
		again := f.refuse(t, "brand_required", without("brandId"), with("urgent", true))
		require.Equal(t, problems[3]["title"], again["title"])
		for _, problem := range problems {
			require.NotEmpty(t, problem["title"])
			require.Less(t, len(problem["title"].(string)), 60)
		}
	})
	requirement(t, "ERR-3", func(t *testing.T) {
		for i, status := range []int{401, 404, 400, 422, 409} {
			require.InDelta(t, status, problems[i]["status"], 0)
		}
	})
	requirement(t, "ERR-4", func(t *testing.T) {
		for _, problem := range problems {
			require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, problem["code"])
		}
	})
	requirement(t, "ERR-5", func(t *testing.T) {
		for _, problem := range problems {
			require.Contains(t, problem["detail"], " ")
		}
	})
	requirement(t, "ERR-6", func(t *testing.T) {
		list, _ := problems[2]["errors"].([]any)
		require.Len(t, list, 4)
		for _, violation := range list {
			require.ElementsMatch(t, []string{"field", "code", "message"}, namesOf(violation.(record)))
		}
	})
	requirement(t, "ERR-7", func(t *testing.T) {
		require.Equal(t, "SENT", problems[4]["currentStatus"])
		require.Equal(t, "SENT", f.sendUpdate(t, order, `"urgent": true`).Problem(t, "not_editable")["currentStatus"])
		require.NotContains(t, problems[3], "currentStatus")
	})
	requirement(t, "ERR-8", func(t *testing.T) {
		taken := with("externalOrderId", order["externalOrderId"])
		require.Equal(t, order["id"], f.refuse(t, "external_order_id_conflict", taken)["orderId"])
		body := f.body(t, taken, with("brandId", f.other))
		require.NotContains(t, f.Post(t, f.newKey(t, ofBrand(f.other)), "/orders", body).Object(t), "orderId")
	})
}

func testCodes(t *testing.T, p *platform) {
	f := newFixture(t, p)
	for _, c := range []struct{ id, path, body, violation string }{
		{"ERR-51", "/personal-links:create-batch", `{"recipients": [{"label": "x"}]}`, "campaignId required"},
		{"ERR-53", batches, `{"campaignId": 1, "recipients": [{"label": "x"}]}`, "campaignId invalid"},
		{"ERR-54", batches, `{"campaignId": "x", "recipients": [{"label": "x"}]}`, "campaignId invalid"},
	} {
		requirement(t, c.id, func(t *testing.T) {
			f.Post(t, f.key, c.path, c.body).Invalid(t, c.violation)
			f.Get(t, f.key, "/orders?brandId=x").Invalid(t, "brandId invalid")
		})
	}
	requirement(t, "ERR-52", func(t *testing.T) {
		for _, body := range []string{"{", "[]", `"x"`, "{} {}", `{"urgent": true, "urgent": false}`, "\xff", "", "null"} {
			f.Post(t, f.key, "/orders", body).Problem(t, "invalid_request")
		}
	})
	requirement(t, "ERR-16", func(t *testing.T) {
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
			f.Do(t, call{Method: method, Path: "/orders", Key: f.key}).Problem(t, "method_not_allowed")
		}
	})
	requirement(t, "ERR-17", func(t *testing.T) {
		html := call{Method: http.MethodGet, Path: "/me", Key: f.key, Header: map[string]string{"Accept": "text/html"}}
		f.Do(t, html).Problem(t, "not_acceptable")
	})
	f.testBodies(t)
	requirement(t, "ERR-26", func(t *testing.T) {
		request := f.postCall("/orders", f.body(t))
		request.IdempotencyKey = rand.Text()
		require.Equal(t, http.StatusCreated, f.Do(t, request).Status)
		for path, body := range map[string]string{"/orders": f.body(t), batches: f.batchOf(t)} {
			request.Path, request.Body = path, body
			f.Do(t, request).Problem(t, "idempotency_key_reused")
		}
	})
	requirement(t, "FCO-1", func(t *testing.T) {
		f.invalid(t, "client.name required", without("client.name"))
		f.invalid(t, "client.name required", with("client.name", "\t \u00a0"))
	})
	requirement(t, "FCO-2", func(t *testing.T) {
		f.invalid(t, "client.email invalid", with("client.email", "ann@"))
		f.invalid(t, "campaignId invalid", custom("1.00", "SEK"), with("campaignId", uuid.NewString()))
	})
}

// testBodies checks the limit of their size.
func (f *fixture) testBodies(t *testing.T) {
	requirement(t, "ERR-24", func(t *testing.T) {
		id := freshText(20)
		request := f.postCall("/orders", f.body(t, with("externalOrderId", id), with("padding", strings.Repeat("x", 10<<20))))
		request.IdempotencyKey = rand.Text()
		f.Send(t, request).Problem(t, "payload_too_large")
		require.Empty(t, f.list(t, f.key, "/orders?externalOrderId="+id))
		request.Body = f.body(t, with("externalOrderId", id))
		require.Equal(t, http.StatusCreated, f.Do(t, request).Status, "its key is free")
	})
	requirement(t, "ERR-63", func(t *testing.T) {
		body := strings.TrimSpace(f.body(t))
		request := f.postCall("/orders", strings.Repeat(" ", 10<<20-len(body))+body)
		require.Equal(t, http.StatusCreated, f.Send(t, request).Status)
		request.Body += " "
		f.Send(t, request).Problem(t, "payload_too_large")
	})
}

// testInvalidInput sends malformed and hostile requests.
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
			"/orders?limit=99999999999999999999", "/orders?limit=1&limit=2", "/orders?after=%00",
			"/orders?after=" + strings.Repeat("A", 5000),
			"/orders?status=NEW", "/orders?status=", "/orders?status=1", "/orders?brandId=1", "/orders?updatedSince=yesterday",
			"/orders?updatedSince=0000-00-00T00:00:00Z", "/orders?externalOrderId=%ff", "/orders?limit=%zz",
			"/events?after=" + strings.Repeat("A", 64), "/catalog/products?country=%00", "/catalog/products?country=SE&after=e30",
			"/catalog/products?country=SE&locale=xx-XX", "/catalog/products/00000000-0000-0000-0000-000000000000?country=SE",
			"/catalog/categories?locale=%00", "/personal-links?status=x", "/personal-links?campaignId=x",
			"/orders/00000000-0000-0000-0000-000000000000", "/orders/%00", "/orders/%2e%2e", "/orders/..%2f",
			"/orders/" + strings.Repeat("a", 4000),
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
		"a currency as number": with("items",
			[]any{record{"customProductName": "x", "budget": record{"amount": "1.00", "currency": 752}}}),
		"NaN as amount":              custom("NaN", "SEK"),
		"a client as list":           with("client", []any{}),
		"a client without name":      with("client", record{}),
		"an invalid e-mail":          with("client.email", "@@"),
		"a recipient as string":      with("recipient", "x"),
		"letters in the phone":       with("recipient.phone", "+46CALLME"),
		"a phone of a plus":          with("recipient.phone", "+"),
		"a long phone":               with("recipient.phone", "+46"+strings.Repeat("1", 100)),
		"an unknown calling code":    with("recipient.phone", "+9991234567"),
		"a long name":                with("recipient.name", long),
		"no address":                 with("recipient.address", nil),
		"an unknown country":         address("XX"),
		"a country in lower case":    address("se"),
		"a long comment":             with("courierComment", long),
		"a number as comment":        with("courierComment", 1),
		"a campaign that is no UUID": with("campaignId", "{}"),
		"urgency as number":          with("urgent", 1),
		"an invalid manager":         with("managerEmail", "x"),
		"a long customization":       with("customization", record{"details": long}),
		"a customization as string":  with("customization", "x"),
		"answers as object":          with("customFields", record{}),
		"an answer to no UUID":       with("customFields", []any{record{"fieldId": "x"}}),
		"an answer without field":    with("customFields", []any{record{"textValue": "x"}}),
		"null as answer":             with("customFields", []any{nil}),
	}
}
