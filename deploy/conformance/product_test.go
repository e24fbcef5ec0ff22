package conformance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	published = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED
	archived  = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
)

// unpublished are the states in which a gift is not in the catalog.
func unpublished() []catalogv1.ProductState {
	return []catalogv1.ProductState{catalogv1.ProductState_PRODUCT_STATE_DRAFT, archived, catalogv1.ProductState_PRODUCT_STATE_INTERNAL}
}

// richGift publishes one for Sweden and Finland, with a price in their region, a picture and a Swedish text.
func (f *fixture) richGift(t *testing.T) *catalogv1.PutProductRequest {
	t.Helper()
	uploaded, err := f.Catalog(t).UploadImage(t.Context(), &catalogv1.UploadImageRequest{Content: photo(t, 700)})
	require.NoError(t, err)
	gift := &catalogv1.PutProductRequest{
		Id: uuid.NewString(), State: published, Name: "Blanket", Description: "Warm.", AvailableCountries: []string{"SE", "FI"},
		Translations: []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Filt", Description: "Varm."}},
		Variations:   []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M"}}, {Dimension: "Colour", Values: []string{"Red"}}},
		Prices:       []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "10.00"}}, Categories: f.category(t),
		ImageFileIds: []string{uploaded.GetFileId()}, CustomizationAvailable: true, GiftSet: true,
	}
	f.putProduct(t, gift)
	return gift
}

// category makes a category and returns the code of its subcategory.
func (f *fixture) category(t *testing.T) []string {
	t.Helper()
	const code, within = "CONFORMANCE", "CONFORMANCE__BLANKETS"
	_, err := f.Catalog(t).PutCategory(t.Context(), &catalogv1.PutCategoryRequest{Position: 99, Category: &catalogv1.Category{
		Code: code, Name: "Conformance", Subcategories: []*catalogv1.Subcategory{{Code: within, Name: "Blankets"}},
	}})
	require.NoError(t, err)
	return []string{within}
}

// gift reads a gift as the query has it.
func (f *fixture) gift(t *testing.T, id, query string) record {
	t.Helper()
	return f.read(t, "/catalog/products/"+id+"?"+query)
}

func testProducts(t *testing.T, p *platform) {
	f := newFixture(t, p)
	put := f.richGift(t)
	swedish, plain := f.gift(t, put.GetId(), "country=SE&locale=sv-SE"), f.gift(t, put.GetId(), "country=FI")
	german := f.gift(t, put.GetId(), "country=SE&locale=de-DE")
	for _, member := range []struct {
		id, name string
		want     any
	}{
		{"PRO-22", "id", put.GetId()},
		{"PRO-4", "listed", true},
		{"PRO-10", "variations", []any{
			record{"dimension": "Size", "values": []any{"S", "M"}}, record{"dimension": "Colour", "values": []any{"Red"}},
		}},
		{"PRO-11", "categories", []any{"CONFORMANCE__BLANKETS"}},
		{"PRO-13", "customizationAvailable", true},
		{"PRO-14", "giftSet", true},
		{"PRO-15", "readyToSend", false},
	} {
		requirement(t, member.id, func(t *testing.T) { require.Equal(t, member.want, plain[member.name]) })
	}
	requirement(t, "PRO-2", func(t *testing.T) {
		require.Equal(t, []any{"Filt", "Blanket", "Blanket"}, []any{swedish["name"], plain["name"], german["name"]})
	})
	requirement(t, "PRO-3", func(t *testing.T) {
		require.Equal(t, []any{"Varm.", "Warm.", "Warm."}, []any{swedish["description"], plain["description"], german["description"]})
	})
	f.testPrices(t, plain)
	images, _ := plain["images"].([]any)
	requirement(t, "PRO-12", func(t *testing.T) {
		require.Len(t, images, 3)
		for _, image := range images {
			require.Equal(t, http.StatusOK, harness.Visit(t, image.(record)["url"].(string)).Status)
		}
	})
	requirement(t, "PRO-21", func(t *testing.T) {
		require.Equal(t, []any{320.0, 640.0, nil}, []any{at(images, "0.width"), at(images, "1.width"), at(images, "2.width")})
	})
	requirement(t, "PRO-16", func(t *testing.T) {
		put.GiftSet = false
		f.putProduct(t, put)
		after := f.gift(t, put.GetId(), "country=FI")
		require.Regexp(t, instant, after["updatedAt"])
		require.Greater(t, after["updatedAt"], plain["updatedAt"])
		f.putProduct(t, put)
		require.Equal(t, after["updatedAt"], f.gift(t, put.GetId(), "country=FI")["updatedAt"], "nothing changed")
	})
	f.testUnlisted(t)
	requirement(t, "CAT-1", func(t *testing.T) {
		require.Contains(t, f.Get(t, f.key, "/catalog/categories").Body,
			`{"code":"CONFORMANCE","name":"Conformance","subcategories":[{"code":"CONFORMANCE__BLANKETS","name":"Blankets"}]}`)
	})
}

// testPrices reads a gift that has a price in Finland and none in Japan.
func (f *fixture) testPrices(t *testing.T, plain record) {
	japan := f.gift(t, idOf(plain), "country=JP")
	requirement(t, "PRO-5", func(t *testing.T) {
		require.Equal(t, true, plain["available"])
		require.Equal(t, false, japan["available"])
	})
	requirement(t, "PRO-6", func(t *testing.T) {
		require.Equal(t, true, plain["priced"])
		require.Equal(t, false, japan["priced"])
	})
	requirement(t, "PRO-7", func(t *testing.T) { require.Equal(t, money(f.rated(t, "SEK", "10.00"), "SEK"), plain["estimate"]) })
	requirement(t, "PRO-9", func(t *testing.T) { require.Equal(t, money("10.00", "EUR"), plain["estimateEur"]) })
	requirement(t, "PRO-8", func(t *testing.T) { requireNull(t, japan, "estimate", "estimateEur") })
	requirement(t, "PRO-20", func(t *testing.T) {
		for _, name := range []string{"estimate", "estimateEur"} {
			value, _ := plain[name].(record)
			require.ElementsMatch(t, []string{"amount", "currency"}, namesOf(value))
			require.Regexp(t, `^\d+\.\d{2}$`, value["amount"])
			require.Regexp(t, `^[A-Z]{3}$`, value["currency"])
		}
	})
}

func money(amount, currency string) any { return record{"amount": amount, "currency": currency} }

// rated converts an amount in euros at the catalog's rate of the currency.
func (f *fixture) rated(t *testing.T, currency, euros string) string {
	t.Helper()
	rates, err := f.Products(t).ListExchangeRates(t.Context(), &catalogv1.ListExchangeRatesRequest{})
	require.NoError(t, err)
	for _, rate := range rates.GetRates() {
		if rate.GetCurrency() == currency {
			return decimal.RequireFromString(rate.GetRate()).Mul(decimal.RequireFromString(euros)).StringFixed(2)
		}
	}
	require.Fail(t, "no rate")
	return ""
}

// changedSince finds the gift among those that changed since.
func (f *fixture) changedSince(t *testing.T, since time.Time, id string) record {
	t.Helper()
	path := "/catalog/products?country=SE&limit=100&updatedSince=" + since.UTC().Format(time.RFC3339)
	for _, entry := range f.All(t, f.key, path) {
		if entry["id"] == id {
			return entry
		}
	}
	return nil
}

func (f *fixture) testUnlisted(t *testing.T) {
	since := time.Now().Add(-time.Minute)
	gone := f.richGift(t)
	f.putInState(t, gone, archived)
	entry := f.changedSince(t, since, gone.GetId())
	requirement(t, "PRO-17", func(t *testing.T) {
		require.ElementsMatch(t, []string{"id", "listed", "updatedAt"}, namesOf(entry))
		require.Equal(t, false, entry["listed"])
		require.Regexp(t, instant, entry["updatedAt"])
	})
	requirement(t, "PRO-18", func(t *testing.T) {
		for _, found := range f.All(t, f.key, "/catalog/products?country=SE&limit=100") {
			require.Equal(t, true, found["listed"])
			require.NotEqual(t, gone.GetId(), found["id"])
		}
		f.Get(t, f.key, "/catalog/products/"+gone.GetId()+"?country=SE").Problem(t, "not_found")
	})
	requirement(t, "PRO-19", func(t *testing.T) {
		for _, state := range unpublished() {
			gift := f.richGift(t)
			require.Equal(t, true, f.changedSince(t, since, gift.GetId())["listed"])
			f.putInState(t, gift, state)
			require.Equal(t, false, f.changedSince(t, since, gift.GetId())["listed"], "%s", state)
		}
	})
}
