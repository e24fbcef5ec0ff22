package catalog_test

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
	s := setup(t)
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
		_, err := s.ops.PutCategory(t.Context(), home)
		require.NoError(t, err)
	}
	_, err := s.ops.PutCategory(t.Context(), &catalogv1.PutCategoryRequest{Category: &catalogv1.Category{Code: "FOOD", Name: "Food"}, Position: 1})
	require.NoError(t, err)
	list := func(locale string) []*catalogv1.Category {
		resp, err := s.catalog.ListCategories(s.as(1), &catalogv1.ListCategoriesRequest{Locale: &locale})
		require.NoError(t, err)
		return resp.GetCategories()
	}
	t.Run("stand in display order, untranslated names in en-US", func(t *testing.T) {
		got := list("sv-SE")
		require.Len(t, got, 2)
		require.Equal(t, "Food", got[0].GetName())
		require.Empty(t, got[0].GetSubcategories())
		require.Equal(t, "Hem", got[1].GetName())
		require.Equal(t, []string{"Wool", "Glas"}, []string{got[1].GetSubcategories()[0].GetName(), got[1].GetSubcategories()[1].GetName()})
		require.Equal(t, "HOME__WOOL", got[1].GetSubcategories()[0].GetCode())
		require.Equal(t, "Home", list("")[1].GetName())
	})
	t.Run("keep a subcategory a gift stands in", func(t *testing.T) {
		s.put(gift(func(p *catalogv1.PutProductRequest) { p.Categories = []string{"HOME__GLASS"} }))
		less := proto.CloneOf(home)
		less.Translations = nil
		less.Category.Subcategories = less.GetCategory().GetSubcategories()[:1]
		_, err := s.ops.PutCategory(t.Context(), less)
		require.Equal(t, map[string]string{"category.subcategories": problem.FieldInvalid}, violations(t, err))
		require.Len(t, list("")[1].GetSubcategories(), 2, "nothing was changed")
		less.Category.Subcategories[0] = home.GetCategory().GetSubcategories()[1]
		_, err = s.ops.PutCategory(t.Context(), less)
		require.NoError(t, err)
		require.Len(t, list("")[1].GetSubcategories(), 1)
	})
}

func TestFaultyUpkeep(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	long := strings.Repeat("ä", 256)
	for name, tc := range map[string]struct {
		call func() error
		want map[string]string
	}{
		"a region": {
			func() error {
				_, err := s.ops.PutRegion(ctx, &catalogv1.PutRegionRequest{Code: "nordics", Countries: []string{"SE", "se"}})
				return err
			},
			map[string]string{"code": "invalid", "countries[1]": "invalid"},
		},
		"an empty region": {
			func() error { _, err := s.ops.PutRegion(ctx, &catalogv1.PutRegionRequest{}); return err },
			map[string]string{"code": "required"},
		},
		"a rate of the euro": {
			func() error {
				_, err := s.ops.PutExchangeRate(ctx, &catalogv1.PutExchangeRateRequest{Currency: "EUR", Rate: "0"})
				return err
			},
			map[string]string{"currency": "invalid", "rate": "invalid"},
		},
		"a rate of no currency": {
			func() error {
				_, err := s.ops.PutExchangeRate(ctx, &catalogv1.PutExchangeRateRequest{Currency: "sek", Rate: "1e3"})
				return err
			},
			map[string]string{"currency": "invalid", "rate": "invalid"},
		},
		"no category": {
			func() error { _, err := s.ops.PutCategory(ctx, &catalogv1.PutCategoryRequest{}); return err },
			map[string]string{"category": "required"},
		},
		"a category": {
			func() error {
				_, err := s.ops.PutCategory(ctx, &catalogv1.PutCategoryRequest{
					Category: &catalogv1.Category{Code: "A__B", Name: " ", Subcategories: []*catalogv1.Subcategory{
						{Code: "B__C", Name: long}, {Code: "B__C", Name: "x"},
					}},
					Translations: []*catalogv1.CategoryTranslation{
						{Locale: "en-US", Code: "A__B", Name: "x"},
						{Locale: "sv-se", Code: "Z", Name: "\x00"},
						{Locale: "sv-SE", Code: "B__C", Name: "x"},
						{Locale: "sv-SE", Code: "B__C", Name: "x"},
					},
				})
				return err
			},
			map[string]string{
				"category.code": "invalid", "category.name": "required",
				"category.subcategories[0].code": "invalid", "category.subcategories[0].name": "too_long",
				"category.subcategories[1].code": "invalid",
				"translations[0].locale":         "invalid", "translations[1].locale": "invalid",
				"translations[1].code": "invalid", "translations[1].name": "invalid", "translations[3]": "duplicate",
			},
		},
		"an empty gift": {
			func() error { _, err := s.ops.PutProduct(ctx, &catalogv1.PutProductRequest{}); return err },
			map[string]string{"id": "required", "state": "required", "name": "required"},
		},
		"a gift": {
			func() error {
				_, err := s.ops.PutProduct(ctx, &catalogv1.PutProductRequest{
					Id: uuid.Nil.String(), State: 99, Name: long, Description: "\x00",
					Translations: []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "x"}, {Locale: "sv-SE"}},
					Variations: []*catalogv1.Variation{
						{Dimension: "Size", Values: []string{"S", "S", " "}}, {Dimension: "Size"},
					},
					Categories: []string{"A", "A"}, ImageFileIds: []string{""}, AvailableCountries: []string{"XX"},
					Prices: []*catalogv1.RegionPrice{
						{Region: "A", AmountEur: "1.001"}, {Region: "A", AmountEur: "-1"}, {AmountEur: "0.00"}, {Region: "B", AmountEur: "1e5"},
					},
				})
				return err
			},
			map[string]string{
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
			func() error {
				_, err := s.ops.PutProduct(ctx, gift(func(p *catalogv1.PutProductRequest) {
					p.Categories, p.ImageFileIds = []string{"HOME__NONE"}, []string{"0123"}
					p.Prices = []*catalogv1.RegionPrice{{Region: "NOWHERE", AmountEur: "1"}}
				}))
				return err
			},
			map[string]string{"categories[0]": "invalid", "imageFileIds[0]": "invalid", "prices[0].region": "invalid"},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, violations(t, tc.call())) })
	}
}
