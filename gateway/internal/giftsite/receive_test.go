package giftsite

import (
	"encoding/xml"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestTheFirstViewIsTheWrappedGiftWithTheNoteOfItsSender(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const hero = public + "/catalog/images/hero"
	for _, withHero := range []bool{false, true} {
		if withHero {
			f.page.Brand.Hero = []*linksv1.ClaimImage{{Url: hero}}
		}
		page := f.get("").body
		require.Contains(t, page, `<div class="wrapping">`)
		require.Equal(t, withHero, strings.Contains(page, `<img class="hero" src="`+hero+`"`))
		require.Contains(t, page, "<figcaption>A note from Nordlys Casino</figcaption>")
		require.Contains(t, page, ">Choose your gift</a>")
		require.NotContains(t, page, "Step 1", "it is no form")
	}
	f.page.Message = nil
	require.Contains(t, f.get("").body, `<div class="wrapping">`, "also if the gifts are on the same page")
}

// unwrapping is what the style sheet does on devices that like movement.
func unwrapping(t *testing.T) string {
	t.Helper()
	css := string(styleSheet)
	_, css, found := strings.Cut(css, "@media screen and (prefers-reduced-motion: no-preference) {")
	require.True(t, found)
	css, _, found = strings.Cut(css, "@media (forced-colors: active)")
	require.True(t, found)
	return css
}

func TestTheGiftIsUnwrappedByATouchAndOnlyWhereMovementIsLiked(t *testing.T) {
	t.Parallel()
	moving := unwrapping(t)
	require.Less(t, len(moving), 3<<10)
	require.Contains(t, moving, ".paper { display: block;")
	still := strings.ReplaceAll(string(styleSheet), moving, "")
	require.Contains(t, still, ".paper { display: none; }")
	for _, word := range []string{"animation:", "transition:", "@keyframes"} {
		require.NotContains(t, still, word)
	}
	f := setup(t)
	require.Regexp(t, `(?s)<main id="main" class="received">.*<a class="paper" href="#main"><svg .*`+
		`>A gift for Astrid &lt;3</b> <span class="button">Open your gift</span></span></a>`,
		f.get("").body, "a link that needs no script")
	require.Contains(t, f.get("?step=choose").body, `href="?step=letter#main">Read the note again</a>`, "it is open already")
	f.page.Message = nil
	require.Contains(t, f.get("").body, `<div class="paper" aria-hidden="true"><svg class="bow"`, "above gifts it opens by itself")
}

func TestEachBrandHasItsOwnPaperInItsColours(t *testing.T) {
	t.Parallel()
	paperOf := func(name, colour, accent string) string {
		set := &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{AccentColour: proto.String(accent)}}
		look := themeOf(&linksv1.ClaimBrand{Name: name, PrimaryColour: proto.String(colour), Site: set})
		return look.Light.pattern(look.Look)
	}
	papers := map[string]string{}
	for _, brand := range []string{"Nordlys Casino", "Polar Spins", "Fjord Live", "Rheingold", "Lorelei Bingo", "Hansa Privatbank"} {
		paper := paperOf(brand, "#1B4B8F", "")
		require.Empty(t, papers[paper], "%s has the paper of another brand", brand)
		papers[paper] = brand
		require.Equal(t, paper, paperOf(brand, "#1b4b8f", ""), "it is always the same")
	}
	motifOf := func(name, colour, accent string) int {
		set := &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{AccentColour: proto.String(accent)}}
		return lookOf(&linksv1.ClaimBrand{Name: name, PrimaryColour: proto.String(colour), Site: set}) % len(motifs)
	}
	require.NotEqual(t, motifOf("Nordlys Casino", "#1B4B8F", "#0B7C88"), motifOf("Hansa Privatbank", "#0A2540", ""), "both are blue")
	require.NotEqual(t, motifOf("Nordlys Casino", "#1B4B8F", ""), motifOf("Nordlys Casino", "#1B4B8F", "#0B7C88"), "the accent counts")
	seen := map[int]string{}
	for name, colours := range map[string][2]string{ // The brands of the demo data.
		"Nordlys Casino": {"#1B4B8F", "#0B7A75"}, "Polar Spins": {"#0FA3B1"}, "Fjord Live": {}, "Rheingold": {"#B8860B", "#6B1D2E"},
		"Lorelei Bingo": {"#7A1F3D"},
	} {
		motif := motifOf(name, colours[0], colours[1])
		require.Empty(t, seen[motif], "%s has the pattern of another brand", name)
		seen[motif] = name
	}
}

func TestEveryMotifIsAnImageOfTheColoursOfTheBrand(t *testing.T) {
	t.Parallel()
	p := newTheme("#1B4B8F", "#B8860B").Light
	for look := range motifs {
		image := p.pattern(look)
		require.True(t, strings.HasPrefix(image, "url(data:image/svg+xml,"))
		svg, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(image, "url(data:image/svg+xml,"), ")"))
		require.NoError(t, err)
		require.NotContains(t, svg, `"T"`)
		require.NotContains(t, svg, `"R"`)
		require.Contains(t, svg, p.OnPanel.mixedInto(p.Panel, 1-motifTone).String())
		for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err = decoder.Token(); err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
		}
	}
}

func TestTheRibbonIsSeenOnThePaper(t *testing.T) {
	t.Parallel()
	for brand, accent := range map[string]string{
		"#B8860B": "#6b1d2e", "#1B4B8F": "#0b7c88", "#2F6B3A": "#e8590c", "#14110C": "#b8860b",
	} {
		look := newTheme(brand, accent)
		require.Equal(t, accent, look.Light.Ribbon.String(), "the accent, also where only its hue differs")
		require.Equal(t, accent, look.Dark.Ribbon.String())
	}
	pale := newTheme("#1b4b8f", "#2a5ba0").Light.Ribbon
	require.Greater(t, contrast(pale, mustColour("#1b4b8f")), 6.0, "not an accent that is nearly the colour of the paper")
	for _, colour := range []string{"#000000", "#ffffff", "#1b4b8f", "#ffe14d", "#767676", "#7a1f3d"} {
		look := newTheme(colour, "")
		require.Equal(t, look.Light.Ribbon, look.Dark.Ribbon)
		for _, p := range []palette{look.Light, look.Dark} {
			require.GreaterOrEqual(t, contrast(p.Ribbon, p.Panel), 1.9, colour)
		}
	}
}

func TestTheDifferenceOfColoursKnowsHues(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, difference(white, rgb{}), 0.001)
	require.Zero(t, difference(dark, dark))
	red, green := mustColour("#ff0000"), mustColour("#009400")
	require.InDelta(t, 1, contrast(red, green), 0.1)
	require.Greater(t, difference(red, green), 0.3)
}

func TestTheGiftsHaveOneTitleAfterTheGreeting(t *testing.T) {
	t.Parallel()
	f := setup(t)
	list := f.get("?step=choose").body
	require.Contains(t, list, `<h1 class="ask">Choose the gift you like best.</h1>`)
	require.Equal(t, 1, strings.Count(list, "<h1"))
	require.NotContains(t, list, "A gift for Astrid", "the player has read it")
	require.NotContains(t, list, "wrapping")
	f.page.Message = nil
	first := f.get("").body
	require.Contains(t, first, `<h2 class="ask">Choose the gift you like best.</h2>`)
	require.Equal(t, 1, strings.Count(first, "<h1"))
}

func TestTheWholeCardIsTheLinkUnlessTheGiftIsGone(t *testing.T) {
	t.Parallel()
	list := setup(t).get("?step=choose").body
	require.Regexp(t, `(?s)<a class="choose" href="\?step=gift&amp;gift=truffles">`+
		`<img [^>]*>\s*<div class="words">\s*<h2 class="name" dir="auto">Dark truffles</h2>\s*`+
		`<p [^>]*>With 70 % cocoa.</p>\s*</div>\s*</a>`, list)
	require.Regexp(t, `(?s)<li class="card gone">\s*<div class="picture blank">.*</div>\s*<p class="badge">None left</p>\s*`+
		`<div class="words">\s*<h2 [^>]*>Glass vase</h2>\s*</div>\s*</li>`, list)
	require.Equal(t, 2, strings.Count(list, `class="choose"`))
}

func TestCardsAreAskedForInTheWidthOfTheirRow(t *testing.T) {
	t.Parallel()
	for cards, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 0, 4: 4, 5: 2, 6: 0, 7: 4, 8: 2, 9: 0, 13: 4} {
		require.Equal(t, want, leading(cards), cards)
	}
}

// The list of errors leads to the inputs and says what is wrong with each, as they do.
func TestTheListOfErrorsSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	page := f.follow(filled("name", "", "phone", "070")).body
	require.Contains(t, page, "Almost done – please check:")
	require.Contains(t, page, `<li><a href="#name">Enter your full name</a></li>`)
	require.Contains(t, page, `<li><a href="#phone">Phone number – Check the number. `)
	require.NotContains(t, page, `role="alert"`, "it would be read again whenever an error is mended")
	choices := f.follow(choose("shirt")).body
	require.Contains(t, choices, `<li><a href="#picks">Size – Please choose</a></li>`)
	require.Contains(t, choices, `</span>Please choose</p>`, "beside the size its name is seen")
}

func TestThePageOfAnOrderSaysFirstWhatHappensNow(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.order.Gift.Shown = &linksv1.ClaimGift{Name: "Dark truffles", Images: []*linksv1.ClaimImage{{Url: public + "/catalog/images/t"}}}
	const large, parcel = `<div class="prize"><img class="picture" src="` + public + `/catalog/images/t"`, `<div class="parcel"`
	thanks := f.get("").body
	require.Contains(t, thanks, large)
	require.Contains(t, thanks, `fetchpriority="high"`)
	require.NotContains(t, thanks, parcel)

	f.order.Progress, f.order.Gift.CorrectableVersion = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT, nil
	f.order.Gift.Carrier, f.order.Gift.TrackingUrl = "PostNord", "https://post.example/T-1"
	sent := f.get("").body
	require.Contains(t, sent, parcel)
	require.NotContains(t, sent, large)
	require.Regexp(t, `(?s)Your gift is on its way</h1>.*<a class="button" href="https://post.example/T-1".*<ol class="way"`, sent)
	require.Equal(t, 1, strings.Count(sent, "Track the parcel"))
	require.Equal(t, 1, strings.Count(sent, `class="button"`), "the only one")

	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED
	delivered := f.get("").body
	require.Contains(t, delivered, `<div class="message-text is-delivered">`)
	require.Contains(t, delivered, large)
	require.NotContains(t, delivered, parcel)
	require.NotContains(t, delivered, `class="button"`, "there is nothing left to do")
	require.Contains(t, delivered, `<a class="back" href="https://post.example/T-1"`)
}

func TestANameWithAHyphenStaysOnOneLine(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Label = "Anne-Marie"
	require.Contains(t, f.get("").body, "<h1>A gift for Anne-\u2060Marie</h1>")
}
