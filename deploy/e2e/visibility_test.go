package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// brandOf is a brand that the key sees, and not the demo's first one.
func (p *platform) brandOf(t *testing.T, key string) string {
	t.Helper()
	list := p.get(t, key, "/brands")
	require.Equal(t, http.StatusOK, list.status, list.body)
	var brands []struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(list.body), &brands))
	for _, b := range brands {
		if b.ID != p.env["GIFTING_BRAND_ID"] {
			return b.ID
		}
	}
	require.Fail(t, "the key sees no brand")
	return ""
}

func (p *platform) testVisibility(t *testing.T) {
	key := p.env["GIFTING_KEY"]
	placed := p.post(t, key, "/orders", p.order(t, nil))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	id, _ := placed.object(t)["id"].(string)
	p.eventually(t, key, id, slow)

	t.Run("to another tenant the order does not exist", func(t *testing.T) {
		other := p.env["GIFTING_KEY_APPROVAL"]
		requireProblem(t, p.get(t, other, "/orders/"+id), http.StatusNotFound, "not_found")
		require.NotContains(t, p.get(t, other, "/orders?limit=100").body, id)
		for _, e := range p.feed(t, other) {
			require.NotContains(t, e.raw, id)
		}
	})
	t.Run("to a key of another brand the order does not exist", func(t *testing.T) {
		other := p.newKey(t, "", p.brandOf(t, key)).GetApiKey()
		requireProblem(t, p.get(t, other, "/orders/"+id), http.StatusNotFound, "not_found")
		require.NotContains(t, p.get(t, other, "/orders?limit=100").body, id)
		for _, e := range p.feed(t, other) {
			require.NotContains(t, e.raw, id)
		}
		requireProblem(t, p.post(t, other, "/orders", p.order(t, nil)), http.StatusUnprocessableEntity, "brand_not_found")
	})
	t.Run("a key without the scope is told which one", func(t *testing.T) {
		catalog := p.env["GIFTING_KEY_CATALOG"]
		for _, c := range []call{
			{method: http.MethodGet, path: "/orders", key: catalog},
			{method: http.MethodGet, path: "/orders/" + id, key: catalog},
			{method: http.MethodPost, path: "/orders", key: catalog, body: p.order(t, nil)},
		} {
			problem := requireProblem(t, p.do(t, c), http.StatusForbidden, "insufficient_scope")
			require.Contains(t, problem["detail"], "ORDERS")
		}
		problem := requireProblem(t, p.get(t, catalog, "/personal-links"), http.StatusForbidden, "insufficient_scope")
		require.Contains(t, problem["detail"], "PERSONAL_LINKS")
		require.Empty(t, p.feed(t, catalog))
	})
	t.Run("a path id that is no UUID does not exist", func(t *testing.T) {
		requireProblem(t, p.get(t, key, "/orders/42"), http.StatusNotFound, "not_found")
	})
}
