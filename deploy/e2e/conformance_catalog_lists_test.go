package e2e_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func (p *platform) promisesOfProductLists(t *testing.T) {
	s := p.newShop(t, false)
	const products = "/catalog/products"
	invalid := func(t *testing.T, query, fault string) map[string]any {
		t.Helper()
		problem := requireProblem(t, s.get(t, s.key, products+query), http.StatusBadRequest, "invalid_request")
		require.Equal(t, []string{fault}, faults(t, problem))
		return problem
	}
	t.Run("the country is required", func(t *testing.T) { invalid(t, "", "country required") })
	t.Run("the country is an ISO 3166-1 alpha-2 code", func(t *testing.T) {
		for _, country := range []string{"SWE", "se", "XX"} {
			invalid(t, "?country="+country, "country invalid")
		}
	})
	gift := s.richGift(t)
	gift.Prices = append(gift.Prices, &catalogv1.RegionPrice{Region: "BRITISH_ISLES", AmountEur: "12.50"})
	s.putProduct(t, gift)
	t.Run("availability depends on the country", func(t *testing.T) {
		require.Equal(t, true, s.gift(t, gift.GetId(), "country=SE")["available"])
		require.Equal(t, false, s.gift(t, gift.GetId(), "country=GB")["available"])
	})
	t.Run("estimates depend on the country", func(t *testing.T) {
		require.Equal(t, money("10.00", "EUR"), s.gift(t, gift.GetId(), "country=SE")["estimateEur"])
		require.Equal(t, money("12.50", "EUR"), s.gift(t, gift.GetId(), "country=GB")["estimateEur"])
	})
	t.Run("the locale is optional", func(t *testing.T) {
		require.NotEmpty(t, s.list(t, s.key, products+"?country=SE"))
		require.NotEmpty(t, s.list(t, s.key, products+"?country=SE&locale=sv-SE"))
	})
	t.Run("an unsupported locale answers 400 with those that are supported", func(t *testing.T) {
		fault, _ := invalid(t, "?country=SE&locale=fr-FR", "locale not_enabled")["errors"].([]any)[0].(map[string]any)
		for _, locale := range []string{"en-US", "sv-SE", "de-DE"} {
			require.Contains(t, fault["message"], locale)
		}
	})
	t.Run("updatedSince gives what changed since, what left the catalog included", func(t *testing.T) {
		changed := s.richGift(t)
		s.putProduct(t, changed)
		at, _ := s.gift(t, changed.GetId(), "country=SE")["updatedAt"].(string)
		since := products + "?country=SE&limit=100&updatedSince=" + url.QueryEscape(at)
		require.Contains(t, ids(s.all(t, s.key, since)), changed.GetId())
		require.NotContains(t, ids(s.all(t, s.key, since)), gift.GetId(), "it changed before")
		changed.State = archived
		s.putProduct(t, changed)
		require.Contains(t, ids(s.all(t, s.key, since)), changed.GetId())
		later := products + "?country=SE&updatedSince=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		require.Empty(t, s.list(t, s.key, later))
	})
	t.Run("pages follow each other by after and limit", func(t *testing.T) {
		whole, inPages := ids(s.all(t, s.key, products+"?country=SE&limit=100")), ids(s.all(t, s.key, products+"?country=SE&limit=17"))
		require.Equal(t, whole, inPages)
		require.Len(t, s.list(t, s.key, products+"?country=SE&limit=3"), 3)
	})
	t.Run("the gifts for a country come as items and nextCursor", func(t *testing.T) {
		require.ElementsMatch(t, []string{"items", "nextCursor"}, namesOf(s.read(t, products+"?country=SE")))
	})
	t.Run("a gift is to be shown only when listed and available", func(t *testing.T) {
		s.place(t, ofGift(gift.GetId(), map[string]any{"Size": "S", "Colour": "Red"}))
		s.refuseAs(t, http.StatusUnprocessableEntity, "not_deliverable_to_country",
			ofGift(gift.GetId(), map[string]any{"Size": "S", "Colour": "Red"}), with("recipient.address.country", "GB"))
		gift.State = archived
		s.putProduct(t, gift)
		s.refuseAs(t, http.StatusUnprocessableEntity, "product_not_available", ofGift(gift.GetId(), map[string]any{"Size": "S", "Colour": "Red"}))
	})
}

func (p *platform) promisesOfImages(t *testing.T) {
	s := p.newShop(t, false)
	gift := s.richGift(t)
	s.putProduct(t, gift)
	image, _ := s.gift(t, gift.GetId(), "country=SE")["images"].([]any)[0].(map[string]any)["url"].(string)
	t.Run("an image needs no key", func(t *testing.T) {
		require.Equal(t, http.StatusOK, p.image(t, http.MethodGet, image, nil).status)
	})
	t.Run("an image is served whatever Accept says", func(t *testing.T) {
		for _, accept := range []string{"text/html", "image/webp", "application/json"} {
			a := p.image(t, http.MethodGet, image, map[string]string{"Accept": accept})
			require.Equal(t, http.StatusOK, a.status)
			require.Equal(t, "image/jpeg", a.header.Get("Content-Type"))
		}
	})
}
