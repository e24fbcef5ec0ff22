package giftsite

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func gift(choices ...[2]string) *linksv1.ClaimGift {
	g := &linksv1.ClaimGift{Variations: []*linksv1.ClaimVariation{
		{Dimension: "Size", Values: []string{"S", "M"}}, {Dimension: "Colour", Values: []string{"Navy", "Grey"}},
	}}
	for _, c := range choices {
		g.Choices = append(g.Choices, &linksv1.ClaimChoice{Variations: map[string]string{"Size": c[0], "Colour": c[1]}})
	}
	return g
}

// shown writes choices as text: * means checked, - disabled.
func shown(c choices) []string {
	var out []string
	groups := c.Groups
	if c.Whole != nil {
		groups = append(groups, *c.Whole)
	}
	for _, g := range groups {
		line := g.Legend + ":"
		for _, o := range g.Options {
			line += " [" + o.Label + map[bool]string{true: "*"}[o.Checked] + map[bool]string{true: "-"}[o.Disabled] + "]"
		}
		out = append(out, line)
	}
	if c.Left != "" {
		out = append(out, c.Left)
	}
	return out
}

// One group for each dimension, and for browsers without scripts a list of whole combinations if not all are left.
func TestEachDimensionIsAChoiceAndWholeCombinationsAreOneIfSomeAreGone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		gift   *linksv1.ClaimGift
		picked map[string]string
		want   []string
	}{
		"no dimensions": {&linksv1.ClaimGift{}, nil, nil},
		"never limited": {gift(), nil, []string{"Size: [S] [M]", "Colour: [Navy] [Grey]"}},
		"a value that is not available": {
			gift([2]string{"S", "Navy"}, [2]string{"M", "Navy"}), nil,
			[]string{"Size: [S] [M]", "Colour: [Navy*] [Grey-]"},
		},
		"a combination that is not available": {
			gift([2]string{"S", "Navy"}, [2]string{"M", "Grey"}), nil,
			[]string{"Size: [S] [M]", "Colour: [Navy] [Grey]", "Size, Colour: [S, Navy] [S, Grey-] [M, Navy-] [M, Grey]", "0,0 1,1"},
		},
		"one combination left": {
			gift([2]string{"M", "Grey"}), nil, []string{"Size: [S-] [M*]", "Colour: [Navy-] [Grey*]"},
		},
		"picked as a combination": {
			gift([2]string{"S", "Navy"}, [2]string{"M", "Grey"}),
			map[string]string{"Size": "M", "Colour": "Grey"},
			[]string{"Size: [S] [M*]", "Colour: [Navy] [Grey*]", "Size, Colour: [S, Navy] [S, Grey-] [M, Navy-] [M, Grey*]", "0,0 1,1"},
		},
		"picked and not available": {
			gift([2]string{"S", "Navy"}, [2]string{"M", "Grey"}),
			map[string]string{"Size": "S", "Colour": "Grey"},
			[]string{"Size: [S*] [M]", "Colour: [Navy] [Grey*]", "Size, Colour: [S, Navy] [S, Grey-] [M, Navy-] [M, Grey]", "0,0 1,1"},
		},
		"picked an unknown value": {
			gift(), map[string]string{"Size": "XXL", "Colour": ""}, []string{"Size: [S] [M]", "Colour: [Navy] [Grey]"},
		},
		"a dimension without name": {
			&linksv1.ClaimGift{Variations: []*linksv1.ClaimVariation{{Dimension: "", Values: []string{"A", "B"}}}},
			nil,
			[]string{": [A] [B]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, shown(choicesOf(read(t).textsFor("en-US"), tc.gift, tc.picked)))
		})
	}
}

func TestVariationsAreShownInTheLocaleAndPostedAsInTheCatalog(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*linksv1.ClaimGift{
		"one by one":     gift(),
		"as combination": gift([2]string{"S", "Navy"}, [2]string{"M", "Grey"}),
	} {
		t.Run(name, func(t *testing.T) {
			g.Variations[0].Name, g.Variations[0].ValueNames = "Storlek", []string{"Liten", "Mellan"}
			groups := choicesOf(read(t).textsFor("sv-SE"), g, nil).Groups
			require.Contains(t, groups[0].Legend, "Storlek")
			require.Contains(t, groups[0].Options[0].Label, "Liten")
			require.NotContains(t, groups[0].Options[0].Value, "Liten")
			require.Equal(t, "S", groups[0].Options[0].values["Size"])
		})
	}
}

func TestSpacesOfTheCatalogArePartOfAChoice(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const dimension, value = " Size", "M\u00a0"
	f.page.Gifts[0].Variations = []*linksv1.ClaimVariation{{Dimension: dimension, Values: []string{"S", value}}}
	want := map[string]string{dimension: value}
	for _, choice := range []url.Values{
		choose("truffles", "v:"+dimension, value), choose("truffles", "choice", url.Values{dimension: {value}}.Encode()),
	} {
		require.Contains(t, f.follow(choice).body, "Where should we send it?")
		require.Equal(t, want, f.drafts[f.nonce].GetGift().GetVariations())
	}
}

func TestAListOfCombinationsStaysShort(t *testing.T) {
	t.Parallel()
	g := &linksv1.ClaimGift{}
	first := map[string]string{}
	for d := range 8 {
		v := &linksv1.ClaimVariation{Dimension: fmt.Sprint(d)}
		for i := range 20 {
			v.Values = append(v.Values, fmt.Sprint(i))
		}
		g.Variations, first[v.GetDimension()] = append(g.Variations, v), "0"
	}
	second := map[string]string{}
	for dimension := range first {
		second[dimension] = "1"
	}
	g.Choices = []*linksv1.ClaimChoice{{Variations: first}, {Variations: second}}
	c := choicesOf(read(t).textsFor("en-US"), g, nil)
	groups := c.Groups
	require.Len(t, groups, 8)
	require.Nil(t, c.Whole)
	require.Equal(t, "0,0,0,0,0,0,0,0 1,1,1,1,1,1,1,1", c.Left)
	require.False(t, groups[0].Options[0].Disabled)
	require.True(t, groups[0].Options[2].Disabled)
}

// Thumbnails are links to the pictures, so they need no script.
func TestAGiftWithSeveralPicturesHasThumbnails(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Locale = "sv-SE"
	page := f.get("?gift=truffles").body
	for i, words := range []string{"Bild 1 av 2", "Bild 2 av 2"} {
		require.Contains(t, page, fmt.Sprintf(`id="picture-%d"`, i))
		require.Contains(t, page, fmt.Sprintf(`<a href="#picture-%d"><img`, i))
		require.Contains(t, page, `alt="Dark truffles, `+words+`"`)
	}
	f.page.Gifts[0].Images = f.page.GetGifts()[0].GetImages()[:2]
	page = f.get("?gift=truffles").body
	require.Contains(t, page, `id="picture-0"`)
	require.NotContains(t, page, "thumbs", "there is nothing to choose from")
}

// picturesIn are the pictures of a page in their order, by the last word of their address.
func picturesIn(page string) (names []string) {
	for _, part := range strings.Split(page, `<img class="picture" src="`+public+`/catalog/images/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		names = append(names, name)
	}
	return names
}

func TestThePictureFollowsTheChoice(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = nil
	f.page.Gifts[1].Choices = nil
	f.page.Gifts[1].Images = []*linksv1.ClaimImage{
		{Url: public + "/catalog/images/any"},
		{Url: public + "/catalog/images/navy", Variations: map[string]string{"Colour": "Navy"}},
		{Url: public + "/catalog/images/grey", Variations: map[string]string{"Colour": "Grey"}},
		{Url: public + "/catalog/images/former", Variations: map[string]string{"Colour": "Red"}},
		{Url: public + "/catalog/images/grey-s", Variations: map[string]string{"Colour": "Grey", "Size": "S"}},
	}
	const page = "?gift=shirt"
	require.Equal(t, []string{"any", "navy", "grey", "former", "grey-s"}, picturesIn(f.get(page).body))
	for _, rule := range []string{
		`.columns:where(:has(#choice-1-0:checked)) #picture-1{order:-1}`,
		`.columns:where(:has(#choice-1-1:checked)) #picture-2{order:-1}`,
		`.columns:where(:has(#choice-0-0:checked):has(#choice-1-1:checked)) #picture-4{order:-2}`,
	} {
		require.Contains(t, f.get(page).body, rule)
	}
	require.NotContains(t, f.get(page).body, `#picture-3{`, "it cannot be chosen")
	require.Contains(t, f.get(page).Header().Get("Content-Security-Policy"), hashOf(styleIn(t, f.get(page).body)))

	require.Contains(t, f.follow(choose("shirt", "v:Size", "M", "v:Colour", "Grey")).body, "Where should we send it?")
	require.Equal(t, []string{"any", "navy", "grey", "former", "grey-s"}, picturesIn(f.get(page).body), "their order stays")
	require.Contains(t, f.get(page).body, `grey" alt="Sweatshirt, Grey" width="640" height="480" fetchpriority="high"`)
	require.Equal(t, []string{"t", "grey"}, picturesIn(f.get("?step=choose").body))
	require.Equal(t, []string{"grey"}, picturesIn(f.follow(filled()).body), "the review")
	f.follow(choose("shirt", "v:Size", "S", "v:Colour", "Grey"))
	require.Contains(t, f.get(page).body, `grey-s" alt="Sweatshirt, S, Grey" width="640" height="480" fetchpriority="high"`,
		"the closest first")

	f.order.Gift.Shown, f.order.Gift.Variations = f.page.GetGifts()[1], map[string]string{"Colour": "Navy"}
	f.follow(f.confirm())
	require.Equal(t, []string{"navy"}, picturesIn(f.get("").body), "the order")
}

func TestAPictureOfOtherValuesThanTheChosenOnesSaysSo(t *testing.T) {
	t.Parallel()
	const caption = `<p class="caption">Shown in Navy</p>`
	f := setup(t)
	f.page.Gifts[1].Images = []*linksv1.ClaimImage{
		{Url: public + "/catalog/images/navy", Variations: map[string]string{"Colour": "Navy"}},
	}
	f.follow(choose("shirt", "v:Size", "M", "v:Colour", "Grey"))
	require.Contains(t, f.get("?gift=shirt").body, caption)
	review := f.follow(filled()).body
	require.Contains(t, review, caption)
	require.Contains(t, review, `alt="Sweatshirt, Navy"`)
	f.follow(choose("shirt", "v:Size", "S", "v:Colour", "Navy"))
	require.NotContains(t, f.get("?step=review").body, caption, "it is what was chosen")

	f.order.Gift.Shown, f.order.Gift.Variations = f.page.GetGifts()[1], map[string]string{"Colour": "Grey"}
	f.follow(f.confirm())
	require.Contains(t, f.get("").body, caption)
	f.order.Gift.Variations = map[string]string{"Colour": "Navy"}
	require.NotContains(t, f.get("").body, caption)
}

// styleIn is the style in a page.
func styleIn(t *testing.T, page string) string {
	t.Helper()
	_, style, found := strings.Cut(page, "<style>")
	require.True(t, found)
	style, _, _ = strings.Cut(style, "</style>")
	return style
}

// Without scripts, and if not all combinations are left, the player chooses from a list of them.
func TestThePictureFollowsAChoiceFromTheListOfCombinations(t *testing.T) {
	t.Parallel()
	c := choicesOf(read(t).textsFor("en-US"), gift([2]string{"S", "Navy"}, [2]string{"M", "Grey"}), nil)
	require.Equal(t, []string{":has(#choice-1-1:checked)", ":has(:is(#whole-1,#whole-3):checked)"},
		c.whenPicked(map[string]string{"Colour": "Grey"}))
	require.Nil(t, c.whenPicked(map[string]string{"Colour": "Grey", "Size": "XXL"}))
	require.Nil(t, c.whenPicked(nil))
}

// Where the list is shown, the hidden groups keep what was picked before. It must not come before what is picked in the list.
func TestAChoiceFromTheListOfCombinationsCountsMoreThanHiddenGroups(t *testing.T) {
	t.Parallel()
	c := choicesOf(read(t).textsFor("en-US"), gift([2]string{"S", "Navy"}, [2]string{"M", "Grey"}), nil)
	grey := map[string]string{"Colour": "Grey"}
	style := string(giftView{choices: c, Pictures: []picture{
		{shows: grey}, {shows: map[string]string{"Colour": "Grey", "Size": "M"}},
	}}.ThemeStyle())
	require.True(t, strings.HasSuffix(style, `.columns:where(:has(#choice-1-1:checked)) #picture-0{order:-1}`+
		`.columns:where(:has(:is(#whole-1,#whole-3):checked)) #picture-0{order:-3}`+
		`.columns:where(:has(#choice-0-1:checked):has(#choice-1-1:checked)) #picture-1{order:-2}`+
		`.columns:where(:has(:is(#whole-3):checked)) #picture-1{order:-4}`), style)
}
