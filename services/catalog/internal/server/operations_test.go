package server_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestCategories(t *testing.T) {
	t.Parallel()
	f := setup(t)
	home := &catalogv1.PutCategoryRequest{
		Category: &catalogv1.Category{Code: "HOME", Name: "Home", Subcategories: []*catalogv1.Subcategory{
			{Code: "HOME__WOOL", Name: "Wool"}, {Code: "HOME__GLASS", Name: "Glass"},
		}},
		Translations: []*catalogv1.CategoryTranslation{
			{Locale: "sv-SE", Code: "HOME", Name: "Hem"}, {Locale: "sv-SE", Code: "HOME__GLASS", Name: "Glas"},
		},
		Position: 2,
	}
	for range 2 {
		call(f, f.ops.PutCategory, home)
	}
	call(f, f.ops.PutCategory, &catalogv1.PutCategoryRequest{Category: &catalogv1.Category{Code: "FOOD", Name: "Food"}, Position: 1})
	list := func(locale string) []*catalogv1.Category {
		return call(f, f.catalog.ListCategories, &catalogv1.ListCategoriesRequest{Locale: &locale}).GetCategories()
	}
	t.Run("are in display order, with untranslated names in en-US", func(t *testing.T) {
		got := list("sv-SE")
		require.Len(t, got, 2)
		require.Equal(t, "Food", got[0].GetName())
		require.Empty(t, got[0].GetSubcategories())
		require.Equal(t, "Hem", got[1].GetName())
		require.Equal(t, []string{"Wool", "Glas"}, []string{
			got[1].GetSubcategories()[0].GetName(), got[1].GetSubcategories()[1].GetName(),
		})
		require.Equal(t, "HOME__WOOL", got[1].GetSubcategories()[0].GetCode())
		require.Equal(t, "Home", list("")[1].GetName())
	})
	t.Run("keep a subcategory that a gift is in", func(t *testing.T) {
		f.put(gift(func(p *catalogv1.PutProductRequest) { p.Categories = []string{"HOME__GLASS"} }))
		less := proto.CloneOf(home)
		less.Translations = nil
		less.Category.Subcategories = less.GetCategory().GetSubcategories()[:1]
		require.Equal(t, codes{"category.subcategories": problem.FieldInvalid}, violations(f, f.ops.PutCategory, less))
		require.Len(t, list("")[1].GetSubcategories(), 2, "nothing was changed")
		less.Category.Subcategories[0] = home.GetCategory().GetSubcategories()[1]
		call(f, f.ops.PutCategory, less)
		require.Len(t, list("")[1].GetSubcategories(), 1)
	})
}

func TestInvalidOperations(t *testing.T) {
	t.Parallel()
	f := setup(t)
	long := strings.Repeat("ä", 256)
	for name, tc := range map[string]struct{ got, want codes }{
		"a region": {
			violations(f, f.ops.PutRegion, &catalogv1.PutRegionRequest{Code: "nordics", Countries: []string{"SE", "se"}}),
			codes{"code": "invalid", "countries[1]": "invalid"},
		},
		"an empty region": {
			violations(f, f.ops.PutRegion, &catalogv1.PutRegionRequest{}),
			codes{"code": "required"},
		},
		"a rate of the euro": {
			violations(f, f.ops.PutExchangeRate, &catalogv1.PutExchangeRateRequest{Currency: "EUR", Rate: "0"}),
			codes{"currency": "invalid", "rate": "invalid"},
		},
		"a rate of no currency": {
			violations(f, f.ops.PutExchangeRate, &catalogv1.PutExchangeRateRequest{Currency: "HRK", Rate: "1e3"}),
			codes{"currency": "invalid", "rate": "invalid"},
		},
		"no category": {
			violations(f, f.ops.PutCategory, &catalogv1.PutCategoryRequest{}),
			codes{"category": "required"},
		},
		"a category": {
			violations(f, f.ops.PutCategory, &catalogv1.PutCategoryRequest{
				Category: &catalogv1.Category{Code: "A__B", Name: " ", Subcategories: []*catalogv1.Subcategory{
					{Code: "B__C", Name: long}, {Code: "B__C", Name: "x"},
				}},
				Translations: []*catalogv1.CategoryTranslation{
					{Locale: "en-US", Code: "A__B", Name: "x"},
					{Locale: "sv-se", Code: "Z", Name: "\x00"},
					{Locale: "sv-SE", Code: "B__C", Name: "x"},
					{Locale: "sv-SE", Code: "B__C", Name: "x"},
				},
			}),
			codes{
				"category.code": "invalid", "category.name": "required",
				"category.subcategories[0].code": "invalid", "category.subcategories[0].name": "too_long",
				"category.subcategories[1].code": "invalid",
				"translations[0].locale":         "invalid", "translations[1].locale": "invalid",
				"translations[1].code": "invalid", "translations[1].name": "invalid", "translations[3]": "duplicate",
			},
		},
		"an empty gift": {
			violations(f, f.ops.PutProduct, &catalogv1.PutProductRequest{}),
			codes{"id": "required", "state": "required", "name": "required"},
		},
		"a gift": {
			violations(f, f.ops.PutProduct, &catalogv1.PutProductRequest{
				Id: uuid.Nil.String(), State: 99, Name: long, Description: "\x00",
				Translations: []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "x"}, {Locale: "sv-SE"}},
				Variations: []*catalogv1.Variation{
					{Dimension: "Size", Values: []string{"S", "S", " "}}, {Dimension: "Size"},
				},
				Categories: []string{"A", "A"}, ImageFileIds: []string{""}, AvailableCountries: []string{"XX"},
				Prices: []*catalogv1.RegionPrice{
					{Region: "A", AmountEur: "1.001"}, {Region: "A", AmountEur: "-1"}, {AmountEur: "0.00"}, {Region: "B", AmountEur: "1e5"},
				},
			}),
			codes{
				"id": "invalid", "state": "invalid", "name": "too_long", "description": "invalid",
				"translations[1].locale": "duplicate", "translations[1].name": "required",
				"variations[0].values[1]": "duplicate", "variations[0].values[2]": "required",
				"variations[1].dimension": "duplicate", "variations[1].values": "required",
				"categories[1]": "duplicate", "imageFileIds[0]": "required", "availableCountries[0]": "invalid",
				"prices[0].amountEur": "invalid", "prices[1].region": "duplicate", "prices[1].amountEur": "invalid",
				"prices[2].region": "required", "prices[2].amountEur": "invalid", "prices[3].amountEur": "invalid",
			},
		},
		"a gift that refers to nothing": {
			violations(f, f.ops.PutProduct, gift(func(p *catalogv1.PutProductRequest) {
				p.Categories, p.ImageFileIds = []string{"HOME__NONE"}, []string{"0123"}
				p.Prices = []*catalogv1.RegionPrice{{Region: "NOWHERE", AmountEur: "1"}}
			})),
			codes{"categories[0]": "invalid", "imageFileIds[0]": "invalid", "prices[0].region": "invalid"},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, tc.got) })
	}
}
