package conformance_test

import (
	"bytes"
	"crypto/rand"
	"image"
	"image/jpeg"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	published = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED
	archived  = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
)

// unpublished are the states in which a gift is not in the catalog.
func unpublished() []catalogv1.ProductState {
	return []catalogv1.ProductState{
		catalogv1.ProductState_PRODUCT_STATE_DRAFT, archived, catalogv1.ProductState_PRODUCT_STATE_INTERNAL,
	}
}

// richGift publishes one for Sweden and Finland, with a price in their region, a picture and a Swedish text.
func (f *fixture) richGift(t *testing.T) *catalogv1.PutProductRequest {
	t.Helper()
	uploaded, err := f.Catalog(t).UploadImage(t.Context(), &catalogv1.UploadImageRequest{Content: photo(t, 700)})
	require.NoError(t, err)
	gift := &catalogv1.PutProductRequest{
		Id: uuid.NewString(), State: published, Name: "Blanket", Description: "Warm.", AvailableCountries: []string{"SE", "FI"},
		Translations: []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Filt", Description: "Varm."}},
		Variations: []*catalogv1.Variation{
			{Dimension: "Size", Values: []string{"S", "M"}}, {Dimension: "Colour", Values: []string{"Red"}},
		},
		Prices: []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "10.00"}}, Categories: f.category(t),
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

// gift reads a gift with the query.
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
		require.Contains(t, f.Get(t, f.key, "/catalog/categories?locale=en-US").Body,
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
		require.Equal(t, ids(f.All(t, f.key, products+"?country=SE&limit=100")...),
			ids(f.All(t, f.key, products+"?country=SE&limit=17")...))
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

// photo is a JPEG with the position where it was taken.
func photo(t *testing.T, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	picture := image.NewGray(image.Rect(0, 0, width, width/2))
	_, _ = rand.Read(picture.Pix[:width]) // The same bytes would be the same file.
	require.NoError(t, jpeg.Encode(&b, picture, nil))
	const position = "Exif\x00\x00GPS 59.3293 N 18.0686 E"
	segment := append([]byte{0xFF, 0xE1, 0, byte(len(position) + 2)}, position...)
	return append(append(bytes.Clone(b.Bytes()[:2]), segment...), b.Bytes()[2:]...)
}

// image reads an image by its URL, without a key.
func (f *fixture) image(t *testing.T, method, url string, header map[string]string) answer {
	t.Helper()
	path, ok := strings.CutPrefix(url, f.Env["GIFTING_URL"])
	require.True(t, ok, url)
	return f.Do(t, call{Method: method, Path: path, Header: header})
}

// imagesOf are the URLs of a gift's images; the original is the last.
func (f *fixture) imagesOf(t *testing.T, giftID string) (urls []string) {
	t.Helper()
	for _, one := range f.gift(t, giftID, "country=SE")["images"].([]any) {
		urls = append(urls, one.(record)["url"].(string))
	}
	return urls
}

func testImages(t *testing.T, p *platform) {
	f := newFixture(t, p)
	gift := f.richGift(t)
	images := f.imagesOf(t, gift.GetId())
	original := images[len(images)-1]
	requirement(t, "IMG-1", func(t *testing.T) {
		for _, url := range images {
			got := f.image(t, http.MethodGet, url, nil)
			require.Equal(t, http.StatusOK, got.Status)
			require.NotContains(t, got.Body, "GPS")
		}
	})
	requirement(t, "IMG-3", func(t *testing.T) {
		for _, accept := range []string{"text/html", "image/webp", "application/json"} {
			a := f.image(t, http.MethodGet, original, map[string]string{"Accept": accept})
			require.Equal(t, http.StatusOK, a.Status)
			require.Equal(t, "image/jpeg", a.Header.Get("Content-Type"))
		}
	})
	// The campaign is on demand, because the fixture's campaigns with stock have gifts with one dimension.
	gift.Variations = gift.GetVariations()[:1]
	f.putProduct(t, gift)
	campaign := f.campaign(t, -1, gift)
	requirement(t, "IMG-2", func(t *testing.T) {
		other := f.richGift(t)
		unused := f.imagesOf(t, other.GetId())
		f.putInState(t, gift, archived)
		f.putInState(t, other, archived)
		for _, status := range []catalogv1.CampaignStatus{campaign.GetStatus(), catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED} {
			campaign.Status = status
			f.putCampaign(t, campaign)
			require.Equal(t, http.StatusOK, f.image(t, http.MethodGet, original, nil).Status, status)
		}
		f.image(t, http.MethodGet, unused[0], nil).Problem(t, "not_found")
	})
	requirement(t, "ERR-64", func(t *testing.T) {
		for _, accept := range []string{"text/html", "image/webp", "application/json;q=0, image/*", "*/*;q=0"} {
			header := map[string]string{"Accept": accept}
			require.Equal(t, http.StatusOK, f.image(t, http.MethodGet, original, header).Status, accept)
			f.Do(t, call{Method: http.MethodGet, Path: "/catalog/images/" + uuid.NewString(), Header: header}).Problem(t, "not_found")
		}
	})
	t.Run("an image is read in parts, and not again while it is unchanged", func(t *testing.T) {
		whole := f.image(t, http.MethodGet, original, nil)
		part := f.image(t, http.MethodGet, original, map[string]string{"Range": "bytes=2-5"})
		require.Equal(t, http.StatusPartialContent, part.Status)
		require.Equal(t, whole.Body[2:6], part.Body)
		same := f.image(t, http.MethodGet, original, map[string]string{"If-None-Match": whole.Header.Get("ETag")})
		require.Equal(t, http.StatusNotModified, same.Status)
		f.image(t, http.MethodGet, original, map[string]string{"Range": "bytes=9999999-"}).Problem(t, "range_not_satisfiable")
		head := f.image(t, http.MethodHead, original, nil)
		require.Equal(t, whole.Header.Get("Content-Length"), head.Header.Get("Content-Length"))
	})
}
