package conformance_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func testProductLists(t *testing.T, p *platform) {
	f := newFixture(t, p)
	const products = "/catalog/products"
	invalid := func(t *testing.T, query, violation string) record {
		t.Helper()
		return f.Get(t, f.key, products+query).Invalid(t, violation)
	}
	requirement(t, "PRL-1", func(t *testing.T) { invalid(t, "", "country required") })
	requirement(t, "PRL-2", func(t *testing.T) {
		for _, country := range []string{"SWE", "se", "XX"} {
			invalid(t, "?country="+country, "country invalid")
		}
	})
	gift := f.richGift(t)
	gift.Prices = append(gift.Prices, &catalogv1.RegionPrice{Region: "BRITISH_ISLES", AmountEur: "12.50"})
	f.putProduct(t, gift)
	requirement(t, "PRL-3", func(t *testing.T) {
		require.Equal(t, true, f.gift(t, gift.GetId(), "country=SE")["available"])
		require.Equal(t, false, f.gift(t, gift.GetId(), "country=GB")["available"])
	})
	requirement(t, "PRL-4", func(t *testing.T) {
		require.Equal(t, money("10.00", "EUR"), f.gift(t, gift.GetId(), "country=SE")["estimateEur"])
		require.Equal(t, money("12.50", "EUR"), f.gift(t, gift.GetId(), "country=GB")["estimateEur"])
	})
	requirement(t, "PRL-5", func(t *testing.T) {
		require.NotEmpty(t, f.list(t, f.key, products+"?country=SE"))
		require.NotEmpty(t, f.list(t, f.key, products+"?country=SE&locale=sv-SE"))
	})
	requirement(t, "PRL-6", func(t *testing.T) {
		message := at(invalid(t, "?country=SE&locale=fr-FR", "locale not_enabled"), "errors.0.message")
		for _, locale := range []string{"en-US", "sv-SE", "de-DE"} {
			require.Contains(t, message, locale)
		}
	})
	requirement(t, "PRL-7", func(t *testing.T) {
		changed := f.richGift(t)
		at, _ := f.gift(t, changed.GetId(), "country=SE")["updatedAt"].(string)
		since := products + "?country=SE&limit=100&updatedSince=" + url.QueryEscape(at)
		require.Contains(t, ids(f.All(t, f.key, since)...), changed.GetId())
		require.NotContains(t, ids(f.All(t, f.key, since)...), gift.GetId(), "it changed before")
		f.putInState(t, changed, archived)
		require.Contains(t, ids(f.All(t, f.key, since)...), changed.GetId())
		later := products + "?country=SE&updatedSince=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		require.Empty(t, f.list(t, f.key, later))
	})
	requirement(t, "PRL-8", func(t *testing.T) {
		require.Equal(t, ids(f.All(t, f.key, products+"?country=SE&limit=100")...), ids(f.All(t, f.key, products+"?country=SE&limit=17")...))
		require.Len(t, f.list(t, f.key, products+"?country=SE&limit=3"), 3)
	})
	requirement(t, "CHO-72", func(t *testing.T) {
		path := products + "/" + gift.GetId()
		f.Get(t, f.key, path).Invalid(t, "country required")
		for _, country := range []string{"SWE", "se", "XX"} {
			f.Get(t, f.key, path+"?country="+country).Invalid(t, "country invalid")
		}
		unlisted := f.putGift(t)
		f.putInState(t, unlisted, archived)
		f.Get(t, f.key, products+"/"+unlisted.GetId()+"?country=SE").Problem(t, "not_found")
	})
	requirement(t, "PRO-1", func(t *testing.T) {
		require.ElementsMatch(t, []string{"items", "nextCursor"}, namesOf(f.read(t, products+"?country=SE")))
	})
	requirement(t, "PRL-10", func(t *testing.T) {
		red := ofGift(gift.GetId(), record{"Size": "S", "Colour": "Red"})
		f.place(t, red)
		f.refuse(t, "not_deliverable_to_country", red, with("recipient.address.country", "GB"))
		f.putInState(t, gift, archived)
		f.refuse(t, "product_not_available", red)
	})
}
