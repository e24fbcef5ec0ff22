package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
)

type product struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Listed    bool   `json:"listed"`
	Available bool   `json:"available"`
	Images    []struct {
		URL string `json:"url"`
	} `json:"images"`
	Estimate struct {
		Amount   string `json:"amount"`
		Currency string `json:"currency"`
	} `json:"estimate"`
}

func (p *platform) testReading(t *testing.T) {
	key := p.env["GIFTING_KEY"]
	t.Run("GET /me tells key, tenant and environment", func(t *testing.T) {
		me := p.get(t, key, "/me")
		require.Equal(t, http.StatusOK, me.status, me.body)
		require.Equal(t, "sandbox", me.object(t)["environment"])
		tenant, _ := me.object(t)["tenant"].(map[string]any)
		require.Equal(t, seed.Direct, tenant["id"])
		require.Equal(t, false, tenant["approvalRequired"])
		require.Len(t, tenant["customFields"], 3)
		own, _ := me.object(t)["key"].(map[string]any)
		require.Nil(t, own["brandIds"])
		require.Nil(t, own["webhookUrl"])
		require.NotContains(t, me.body, p.env["GIFTING_WEBHOOK_SECRET"])
		require.NotContains(t, me.body, key)
	})
	t.Run("GET /brands is a plain array of the tenant's brands", func(t *testing.T) {
		var brands []map[string]any
		require.NoError(t, json.Unmarshal([]byte(p.get(t, key, "/brands").body), &brands))
		require.Len(t, brands, 3)
	})
	t.Run("GET /catalog/products pages through all 60 gifts", func(t *testing.T) {
		require.GreaterOrEqual(t, len(p.products(t, key, "/catalog/products?country=SE&limit=25")), 60)
	})
	t.Run("a gift has a name in the locale, an estimate and an image that opens without a key", func(t *testing.T) {
		var found product
		for _, one := range p.products(t, key, "/catalog/products?country=SE&locale=sv-SE&limit=100") {
			if one.ID == p.env["GIFTING_PRODUCT_ID"] {
				found = one
			}
		}
		require.Equal(t, "Mörka tryfflar, ask med 24", found.Name)
		require.True(t, found.Listed)
		require.True(t, found.Available)
		require.Equal(t, "SEK", found.Estimate.Currency)
		require.Equal(t, "268.43", found.Estimate.Amount)
		require.NotEmpty(t, found.Images)
		path, ours := strings.CutPrefix(found.Images[0].URL, p.env["GIFTING_URL"])
		require.True(t, ours, found.Images[0].URL)
		image := p.get(t, "", path)
		require.Equal(t, http.StatusOK, image.status)
		require.Equal(t, "image/png", image.header.Get("Content-Type"))
	})
	t.Run("the demo placed again changes nothing that a reader could see", func(t *testing.T) {
		const path = "/catalog/products?country=SE&limit=100"
		before := p.get(t, key, path)
		require.NoError(t, seed.Place(t.Context(), p.dial(t, "GIFTING_GRPC_TENANTS"), p.dial(t, "GIFTING_GRPC_CATALOG")))
		require.Equal(t, before.body, p.get(t, key, path).body)
	})
	t.Run("GET /catalog/categories and the single gift answer", func(t *testing.T) {
		require.Equal(t, http.StatusOK, p.get(t, key, "/catalog/categories?locale=de-DE").status)
		one := p.get(t, key, "/catalog/products/"+p.env["GIFTING_PRODUCT_ID"]+"?country=SE")
		require.Equal(t, http.StatusOK, one.status, one.body)
		require.Equal(t, p.env["GIFTING_PRODUCT_ID"], one.object(t)["id"])
	})
	t.Run("GET /personal-links of nobody is an empty page", func(t *testing.T) {
		links := p.get(t, key, "/personal-links?externalRecipientId=nobody")
		require.Equal(t, http.StatusOK, links.status)
		require.JSONEq(t, `{"items":[],"nextCursor":null}`, links.body)
	})
	t.Run("HEAD answers as GET without a body", func(t *testing.T) {
		head := p.do(t, call{method: http.MethodHead, path: "/me", key: key})
		require.Equal(t, http.StatusOK, head.status)
		require.Empty(t, head.body)
	})
}

func (p *platform) products(t *testing.T, key, first string) []product {
	t.Helper()
	var out []product
	path := first
	for {
		a := p.get(t, key, path)
		require.Equal(t, http.StatusOK, a.status, a.body)
		var page struct {
			Items      []product `json:"items"`
			NextCursor *string   `json:"nextCursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &page))
		out = append(out, page.Items...)
		if page.NextCursor == nil {
			return out
		}
		path = first + "&after=" + *page.NextCursor
	}
}
