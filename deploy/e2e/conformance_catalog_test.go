package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

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

// richGift is published for Sweden and Finland, with a price in their region, a picture and a Swedish text.
func (s *shop) richGift(t *testing.T) *catalogv1.PutProductRequest {
	t.Helper()
	uploaded, err := s.upkeep(t).UploadImage(t.Context(), &catalogv1.UploadImageRequest{Content: photo(t, 700)})
	require.NoError(t, err)
	return &catalogv1.PutProductRequest{
		Id: uuid.NewString(), State: published, Name: "Blanket", Description: "Warm.", AvailableCountries: []string{"SE", "FI"},
		Translations: []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Filt", Description: "Varm."}},
		Variations:   []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M"}}, {Dimension: "Colour", Values: []string{"Red"}}},
		Prices:       []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "10.00"}}, Categories: s.category(t),
		ImageFileIds: []string{uploaded.GetFileId()}, CustomizationAvailable: true, GiftSet: true,
	}
}

func (s *shop) putProduct(t *testing.T, gift *catalogv1.PutProductRequest) {
	t.Helper()
	_, err := s.upkeep(t).PutProduct(t.Context(), gift)
	require.NoError(t, err)
}

// category is the code of one that a gift can stand in.
func (s *shop) category(t *testing.T) []string {
	t.Helper()
	const code, within = "CONFORMANCE", "CONFORMANCE__BLANKETS"
	_, err := s.upkeep(t).PutCategory(t.Context(), &catalogv1.PutCategoryRequest{Position: 99, Category: &catalogv1.Category{
		Code: code, Name: "Conformance", Subcategories: []*catalogv1.Subcategory{{Code: within, Name: "Blankets"}},
	}})
	require.NoError(t, err)
	return []string{within}
}

// gift reads one with the query.
func (s *shop) gift(t *testing.T, id, query string) map[string]any {
	t.Helper()
	return s.read(t, "/catalog/products/"+id+"?"+query)
}

func (p *platform) promisesOfProducts(t *testing.T) {
	s := p.newShop(t, false)
	put := s.richGift(t)
	s.putProduct(t, put)
	swedish, plain := s.gift(t, put.GetId(), "country=SE&locale=sv-SE"), s.gift(t, put.GetId(), "country=FI")
	german := s.gift(t, put.GetId(), "country=SE&locale=de-DE")
	for _, member := range []struct {
		promise, name string
		want          any
	}{
		{"the id is the one that an order takes", "id", put.GetId()},
		{"a full entry is listed", "listed", true},
		{"variations are dimensions with their values", "variations", []any{
			map[string]any{"dimension": "Size", "values": []any{"S", "M"}}, map[string]any{"dimension": "Colour", "values": []any{"Red"}},
		}},
		{"the categories are codes of a category and a subcategory", "categories", []any{"CONFORMANCE__BLANKETS"}},
		{"customizationAvailable says whether an order may ask for it", "customizationAvailable", true},
		{"giftSet is as the catalog has it", "giftSet", true},
		{"readyToSend is as the catalog has it", "readyToSend", false},
	} {
		t.Run(member.promise, func(t *testing.T) { require.Equal(t, member.want, plain[member.name]) })
	}
	t.Run("the name stands in the locale asked for, where there is a translation", func(t *testing.T) {
		require.Equal(t, []any{"Filt", "Blanket", "Blanket"}, []any{swedish["name"], plain["name"], german["name"]})
	})
	t.Run("the description stands in the locale asked for, where there is a translation", func(t *testing.T) {
		require.Equal(t, []any{"Varm.", "Warm.", "Warm."}, []any{swedish["description"], plain["description"], german["description"]})
	})
	s.promisesOfPrices(t, plain)
	s.promisesOfPictures(t, plain)
	t.Run("updatedAt is when the gift last changed", func(t *testing.T) {
		put.GiftSet = false
		s.putProduct(t, put)
		after := s.gift(t, put.GetId(), "country=FI")
		require.Regexp(t, instant, after["updatedAt"])
		require.Greater(t, after["updatedAt"], plain["updatedAt"])
		s.putProduct(t, put)
		require.Equal(t, after["updatedAt"], s.gift(t, put.GetId(), "country=FI")["updatedAt"], "nothing changed")
	})
	s.promisesOfUnlisted(t)
	t.Run("a category has code, name and subcategories", func(t *testing.T) {
		require.Contains(t, s.get(t, s.key, "/catalog/categories").body,
			`{"code":"CONFORMANCE","name":"Conformance","subcategories":[{"code":"CONFORMANCE__BLANKETS","name":"Blankets"}]}`)
	})
}

// promisesOfPrices is of a gift that has one in Finland and none in Japan.
func (s *shop) promisesOfPrices(t *testing.T, plain map[string]any) {
	japan := s.gift(t, idOf(plain), "country=JP")
	t.Run("available says whether the gift can go to the country", func(t *testing.T) {
		require.Equal(t, true, plain["available"])
		require.Equal(t, false, japan["available"])
	})
	t.Run("priced says whether the gift has a price in the country's region", func(t *testing.T) {
		require.Equal(t, true, plain["priced"])
		require.Equal(t, false, japan["priced"])
	})
	t.Run("the estimate is in the tenant's currency at the catalog's rate of the day", func(t *testing.T) {
		require.Equal(t, money(s.rated(t, "SEK", "10.00"), "SEK"), plain["estimate"])
	})
	t.Run("estimateEur is the price in EUR", func(t *testing.T) { require.Equal(t, money("10.00", "EUR"), plain["estimateEur"]) })
	t.Run("a gift without a price has no estimate", func(t *testing.T) {
		for _, name := range []string{"estimate", "estimateEur"} {
			require.Contains(t, japan, name)
			require.Nil(t, japan[name])
		}
	})
	t.Run("money is a decimal in text with two places, and an ISO 4217 currency", func(t *testing.T) {
		for _, name := range []string{"estimate", "estimateEur"} {
			value, _ := plain[name].(map[string]any)
			require.ElementsMatch(t, []string{"amount", "currency"}, namesOf(value))
			require.Regexp(t, `^\d+\.\d{2}$`, value["amount"])
			require.Regexp(t, `^[A-Z]{3}$`, value["currency"])
		}
	})
}

func (s *shop) promisesOfPictures(t *testing.T, plain map[string]any) {
	images, _ := plain["images"].([]any)
	t.Run("the images are those of the gift", func(t *testing.T) {
		require.Len(t, images, 3)
		for _, image := range images {
			shown, _ := image.(map[string]any)["url"].(string)
			require.Equal(t, http.StatusOK, open(t, shown).status)
		}
	})
	t.Run("the width is that of the rendition, and null for the original", func(t *testing.T) {
		var widths []any
		for _, image := range images {
			widths = append(widths, image.(map[string]any)["width"])
		}
		require.Equal(t, []any{320.0, 640.0, nil}, widths)
	})
}

func money(amount, currency string) any {
	return map[string]any{"amount": amount, "currency": currency}
}

// rated is what the catalog's rate of the currency makes of an amount in euros.
func (s *shop) rated(t *testing.T, currency, euros string) string {
	t.Helper()
	rates, err := s.productDesk(t).ListExchangeRates(t.Context(), &catalogv1.ListExchangeRatesRequest{})
	require.NoError(t, err)
	for _, rate := range rates.GetRates() {
		if rate.GetCurrency() == currency {
			return decimal.RequireFromString(rate.GetRate()).Mul(decimal.RequireFromString(euros)).StringFixed(2)
		}
	}
	require.Fail(t, "no rate")
	return ""
}

func (s *shop) productDesk(t *testing.T) catalogv1.ProductOperationsServiceClient {
	t.Helper()
	return catalogv1.NewProductOperationsServiceClient(s.dial(t, "GIFTING_GRPC_CATALOG"))
}

// changedSince finds the gift in a sync from a moment ago.
func (s *shop) changedSince(t *testing.T, since time.Time, id string) map[string]any {
	t.Helper()
	path := "/catalog/products?country=SE&limit=100&updatedSince=" + since.UTC().Format(time.RFC3339)
	for _, entry := range s.all(t, s.key, path) {
		if entry["id"] == id {
			return entry
		}
	}
	return nil
}

func (s *shop) promisesOfUnlisted(t *testing.T) {
	since := time.Now().Add(-time.Minute)
	gone := s.richGift(t)
	s.putProduct(t, gone)
	gone.State = archived
	s.putProduct(t, gone)
	entry := s.changedSince(t, since, gone.GetId())
	t.Run("a gift that left the catalog has id, listed false and updatedAt, and nothing else", func(t *testing.T) {
		require.ElementsMatch(t, []string{"id", "listed", "updatedAt"}, namesOf(entry))
		require.Equal(t, false, entry["listed"])
		require.Regexp(t, instant, entry["updatedAt"])
	})
	t.Run("gifts that left the catalog appear on reads with updatedSince only", func(t *testing.T) {
		for _, found := range s.products(t, s.key, "/catalog/products?country=SE&limit=100") {
			require.True(t, found.Listed)
			require.NotEqual(t, gone.GetId(), found.ID)
		}
		requireProblem(t, s.get(t, s.key, "/catalog/products/"+gone.GetId()+"?country=SE"), http.StatusNotFound, "not_found")
	})
	t.Run("unpublished, archived and internal gifts have left the catalog", func(t *testing.T) {
		for _, state := range unpublished() {
			gift := s.richGift(t)
			s.putProduct(t, gift)
			require.Equal(t, true, s.changedSince(t, since, gift.GetId())["listed"])
			gift.State = state
			s.putProduct(t, gift)
			require.Equal(t, false, s.changedSince(t, since, gift.GetId())["listed"], "%s", state)
		}
	})
}
