package seed

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCatalogData(t *testing.T) {
	t.Parallel()
	categories, err := readCategories()
	require.NoError(t, err)
	gifts, err := giftsBySlug()
	require.NoError(t, err)
	locales := []string{baseLocale, "sv-SE", "de-DE"}

	t.Run("there are 60 gifts in six categories, every slug once", func(t *testing.T) {
		require.Len(t, categories, 6)
		total := 0
		for _, c := range categories {
			total += len(c.Gifts)
		}
		require.Equal(t, 60, total)
		require.Len(t, gifts, 60)
	})
	t.Run("every text has three locales", func(t *testing.T) {
		for _, c := range categories {
			for _, l := range append(c.Subcategories, c.label) {
				require.ElementsMatch(t, locales, slices.Collect(maps.Keys(l.Names)), l.Code)
			}
		}
		for slug, g := range gifts {
			require.ElementsMatch(t, locales, slices.Collect(maps.Keys(g.Texts)), slug)
			for locale, text := range g.Texts {
				require.NotEmpty(t, text.Name, "%s %s", slug, locale)
				require.NotEmpty(t, text.Description, "%s %s", slug, locale)
			}
		}
	})
	t.Run("words of variations are translated", func(t *testing.T) {
		byLocale, err := readWords()
		require.NoError(t, err)
		require.ElementsMatch(t, locales[1:], slices.Collect(maps.Keys(byLocale)))
		same := regexp.MustCompile(`^(\d+( kg)?|[SMLX/]+|King|Standard|Filter|Espresso)$`)
		for slug, g := range gifts {
			for _, v := range g.Variations {
				for locale, words := range byLocale {
					require.NotEmpty(t, words.Dimensions[v.Dimension], "%s %s %s", slug, locale, v.Dimension)
					for _, value := range v.Values {
						require.True(t, same.MatchString(value) || words.Values[value] != "", "%s %s %s", slug, locale, value)
					}
				}
			}
		}
	})
	t.Run("every gift has known categories, a reach, prices and a picture of its own", func(t *testing.T) {
		known, pictures := map[string]bool{}, map[string]string{}
		for _, c := range categories {
			for _, sub := range c.Subcategories {
				known[sub.Code] = true
			}
		}
		for slug, g := range gifts {
			require.NotEmpty(t, g.Categories, slug)
			for _, code := range g.Categories {
				require.True(t, known[code], "%s: %s", slug, code)
			}
			prices, err := g.prices()
			require.NoError(t, err, slug)
			require.Len(t, prices, len(regionsOf(g.Reach))-len(g.UnpricedIn), slug)
			require.NotEmpty(t, prices, slug)
			require.Regexp(t, `^\d+\.\d\d$`, prices[0].GetAmountEur(), slug)
			for _, p := range g.Pictures {
				_, err := Image(p.Name)
				require.NoError(t, err, slug)
				for dimension, value := range p.Shows {
					require.True(t, slices.ContainsFunc(g.Variations, func(v variation) bool {
						return v.Dimension == dimension && slices.Contains(v.Values, value)
					}), "%s %s", slug, value)
				}
			}
			picture, err := Image(slug)
			require.NoError(t, err, slug)
			require.Empty(t, pictures[string(picture)], "%s has the picture of another gift", slug)
			pictures[string(picture)] = slug
		}
	})
}

func TestDemo(t *testing.T) {
	t.Parallel()
	t.Run("every brand has a logo, a hero picture and a theme", func(t *testing.T) {
		for _, tenant := range []tenant{nordlys(), rheingold()} {
			for _, brand := range tenant.brands {
				require.Contains(t, themes, brand.GetSlug())
				for _, kind := range []string{"logo-", "hero-"} {
					_, err := Image(kind + brand.GetSlug())
					require.NoError(t, err)
				}
			}
		}
	})
	t.Run("who signs a note has a portrait and a signature", func(t *testing.T) {
		for slug := range senders {
			for _, kind := range []string{"portrait-", "signature-"} {
				_, err := Image(kind + slug)
				require.NoError(t, err)
			}
		}
	})
	t.Run("the pictures are small", func(t *testing.T) {
		const each, all = 30 << 10, 750 << 10
		total := 0
		files, err := data.ReadDir("images")
		require.NoError(t, err)
		for _, file := range files {
			info, err := file.Info()
			require.NoError(t, err)
			require.Less(t, info.Size(), int64(each), file.Name())
			total += int(info.Size())
		}
		require.Less(t, total, all)
	})
	gifts, err := giftsBySlug()
	require.NoError(t, err)

	t.Run("the product to begin with has no variations and goes to Sweden", func(t *testing.T) {
		g := gifts["dark-truffles"]
		require.Empty(t, g.Variations)
		request, err := g.request()
		require.NoError(t, err)
		require.Equal(t, Product, request.GetId())
		require.Contains(t, request.GetAvailableCountries(), "SE")
	})
	t.Run("campaigns offer gifts that exist, stocked and on demand, in every combination", func(t *testing.T) {
		for _, c := range campaigns() {
			stocked := map[bool]int{}
			for _, o := range c.offers {
				g, ok := gifts[o.slug]
				require.True(t, ok, o.slug)
				stocked[o.units > 0]++
				want := 1
				for _, v := range g.Variations {
					want *= len(v.Values)
				}
				require.Len(t, o.input(g).GetSkus(), want, o.slug)
			}
			require.Positive(t, stocked[true])
			require.Positive(t, stocked[false])
		}
	})
}
