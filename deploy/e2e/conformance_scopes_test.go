package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func (p *platform) promisesOfScopes(t *testing.T) {
	s := p.newShop(t, false)
	campaign := s.campaign(t, -1, p.putGift(t, "S"))
	order, link := "/orders/"+idOf(s.place(t)), "/personal-links/"+idOf(s.link(t))
	keys := map[string]string{}
	for _, scope := range allScopes {
		name := strings.TrimPrefix(scope.String(), "SCOPE_")
		keys[name] = s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.Scopes = []commonv1.Scope{scope} }).GetApiKey()
	}
	none := s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.Scopes = []commonv1.Scope{commonv1.Scope_SCOPE_CATALOG} }).GetApiKey()
	for _, endpoint := range []struct{ promise, method, path, body, scope string }{
		{"GET brands needs CATALOG", "GET", "/brands", "", "CATALOG"},
		{"GET products needs CATALOG", "GET", "/catalog/products?country=SE", "", "CATALOG"},
		{"GET product needs CATALOG", "GET", "/catalog/products/" + p.env["GIFTING_PRODUCT_ID"] + "?country=SE", "", "CATALOG"},
		{"GET categories needs CATALOG", "GET", "/catalog/categories", "", "CATALOG"},
		{"GET campaigns needs CATALOG", "GET", "/campaigns", "", "CATALOG"},
		{"GET campaign needs CATALOG", "GET", "/campaigns/" + campaign.GetId(), "", "CATALOG"},
		{"POST orders needs ORDERS", "POST", "/orders", s.body(t), "ORDERS"},
		{"GET orders needs ORDERS", "GET", "/orders", "", "ORDERS"},
		{"GET order needs ORDERS", "GET", order, "", "ORDERS"},
		{"update-delivery needs ORDERS", "POST", order + ":update-delivery", `{"expectedVersion": 0}`, "ORDERS"},
		{"GET messages needs ORDERS", "GET", order + "/messages", "", "ORDERS"},
		{"POST messages needs ORDERS", "POST", order + "/messages", `{"body": "Hi."}`, "ORDERS"},
		{"cancelling an order needs ORDERS", "POST", order + ":cancel", `{"reason": "Other."}`, "ORDERS"},
		{"create-batch needs PERSONAL_LINKS", "POST", batches, s.batchOf(t), "PERSONAL_LINKS"},
		{"GET personal-links needs PERSONAL_LINKS", "GET", "/personal-links", "", "PERSONAL_LINKS"},
		{"GET personal-link needs PERSONAL_LINKS", "GET", link, "", "PERSONAL_LINKS"},
		{"cancelling a link needs PERSONAL_LINKS", "POST", link + ":cancel", `{"reason": "Other."}`, "PERSONAL_LINKS"},
	} {
		t.Run(endpoint.promise, func(t *testing.T) {
			for scope, key := range keys {
				if scope != endpoint.scope {
					a := s.do(t, call{method: endpoint.method, path: endpoint.path, key: key, body: endpoint.body})
					require.Contains(t, requireProblem(t, a, http.StatusForbidden, "insufficient_scope")["detail"], endpoint.scope)
				}
			}
			a := s.do(t, call{method: endpoint.method, path: endpoint.path, key: keys[endpoint.scope], body: endpoint.body})
			require.Less(t, a.status, 300, a.body)
		})
	}
	for _, endpoint := range []struct{ promise, method, path string }{
		{"GET me needs any key", "GET", "/me"}, {"GET events needs any key", "GET", "/events"}, {"webhooks test needs any key", "POST", "/webhooks:test"},
	} {
		t.Run(endpoint.promise, func(t *testing.T) {
			for _, key := range append([]string{none}, keys["ORDERS"], keys["PERSONAL_LINKS"]) {
				require.Equal(t, http.StatusOK, s.do(t, call{method: endpoint.method, path: endpoint.path, key: key}).status)
			}
			requireProblem(t, s.do(t, call{method: endpoint.method, path: endpoint.path}), http.StatusUnauthorized, "invalid_api_key")
		})
	}
	t.Run("GET image needs no key", func(t *testing.T) {
		gift := s.richGift(t)
		s.putProduct(t, gift)
		image, _ := s.gift(t, gift.GetId(), "country=SE")["images"].([]any)[0].(map[string]any)["url"].(string)
		require.Equal(t, http.StatusOK, p.image(t, http.MethodGet, image, nil).status)
	})
	t.Run("the feed is filtered by the key's brands and scopes", func(t *testing.T) {
		require.NotEmpty(t, s.feed(t, s.key))
		require.Empty(t, s.feed(t, keys["CATALOG"]))
		require.Empty(t, s.feed(t, s.keyOf(t, s.other)))
		for scope, kind := range map[string]string{"ORDERS": "order.", "PERSONAL_LINKS": "personal_link."} {
			events := s.feed(t, keys[scope])
			require.NotEmpty(t, events)
			for _, e := range events {
				require.True(t, strings.HasPrefix(e.Type, kind), e.Type)
			}
		}
	})
}
