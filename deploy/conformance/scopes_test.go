package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
)

func testScopes(t *testing.T, p *platform) {
	f := newFixture(t, p)
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	order, link := "/orders/"+idOf(f.place(t)), "/personal-links/"+idOf(f.link(t))
	keys := map[string]string{}
	for _, scope := range harness.AllScopes() {
		name := strings.TrimPrefix(scope.String(), "SCOPE_")
		keys[name] = f.newKey(t, ofScope(scope))
	}
	for _, endpoint := range []struct{ id, method, path, body, scope string }{
		{"SCO-2", "GET", "/brands", "", "CATALOG"},
		{"SCO-3", "GET", "/catalog/products?country=SE", "", "CATALOG"},
		{"SCO-22", "GET", "/catalog/products/" + f.product + "?country=SE", "", "CATALOG"},
		{"SCO-21", "GET", "/catalog/categories", "", "CATALOG"},
		{"SCO-20", "GET", "/campaigns", "", "CATALOG"},
		{"SCO-5", "GET", "/campaigns/" + campaign.GetId(), "", "CATALOG"},
		{"SCO-6", "POST", "/orders", f.body(t), "ORDERS"},
		{"SCO-7", "GET", "/orders", "", "ORDERS"},
		{"SCO-8", "GET", order, "", "ORDERS"},
		{"SCO-9", "POST", order + ":update-delivery", `{"expectedVersion": 0}`, "ORDERS"},
		{"SCO-11", "GET", order + "/messages", "", "ORDERS"},
		{"SCO-12", "POST", order + "/messages", `{"body": "Hi."}`, "ORDERS"},
		{"SCO-10", "POST", order + ":cancel", `{"reason": "Other."}`, "ORDERS"},
		{"SCO-13", "POST", batches, f.batchOf(t), "PERSONAL_LINKS"},
		{"SCO-14", "GET", "/personal-links", "", "PERSONAL_LINKS"},
		{"SCO-15", "GET", link, "", "PERSONAL_LINKS"},
		{"SCO-16", "POST", link + ":cancel", `{"reason": "Other."}`, "PERSONAL_LINKS"},
	} {
		requirement(t, endpoint.id, func(t *testing.T) {
			for scope, key := range keys {
				if scope != endpoint.scope {
					a := f.Do(t, call{Method: endpoint.method, Path: endpoint.path, Key: key, Body: endpoint.body})
					require.Contains(t, a.Problem(t, "insufficient_scope")["detail"], endpoint.scope)
				}
			}
			a := f.Do(t, call{Method: endpoint.method, Path: endpoint.path, Key: keys[endpoint.scope], Body: endpoint.body})
			require.Less(t, a.Status, http.StatusMultipleChoices, a.Body)
		})
	}
	for _, endpoint := range []struct{ id, method, path string }{
		{"SCO-1", "GET", "/me"}, {"SCO-17", "GET", "/events"}, {"SCO-18", "POST", "/webhooks:test"},
	} {
		requirement(t, endpoint.id, func(t *testing.T) {
			for _, key := range keys {
				require.Equal(t, http.StatusOK, f.Do(t, call{Method: endpoint.method, Path: endpoint.path, Key: key}).Status)
			}
			f.Do(t, call{Method: endpoint.method, Path: endpoint.path}).Problem(t, "invalid_api_key")
		})
	}
	requirement(t, "SCO-4", func(t *testing.T) {
		require.Equal(t, http.StatusOK, f.image(t, http.MethodGet, f.imagesOf(t, f.richGift(t).GetId())[0], nil).Status)
	})
	requirement(t, "SCO-19", func(t *testing.T) {
		require.NotEmpty(t, f.Feed(t, f.key))
		require.Empty(t, f.Feed(t, keys["CATALOG"]))
		require.Empty(t, f.Feed(t, f.newKey(t, ofBrand(f.other))))
		for scope, kind := range map[string]string{"ORDERS": "order.", "PERSONAL_LINKS": "personal_link."} {
			events := f.Feed(t, keys[scope])
			require.NotEmpty(t, events)
			for _, e := range events {
				require.True(t, strings.HasPrefix(e.Type, kind), e.Type)
			}
		}
	})
}
