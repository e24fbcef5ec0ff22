//go:build browser

package giftsite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// brands are the looks of the demo brands, by slug.
var brands = map[string]struct {
	name, colour, accent string
	theme                *tenantsv1.Theme
}{
	"nordlys-casino": {"Nordlys Casino", "#1B4B8F", "#0B7A75", &tenantsv1.Theme{Typeface: tenantsv1.Typeface_TYPEFACE_GROTESK}},
	"polar-spins": {"Polar Spins", "#0FA3B1", "", &tenantsv1.Theme{
		Typeface: tenantsv1.Typeface_TYPEFACE_HUMANIST, Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
	}},
	"fjord-live": {"Fjord Live", "", "", &tenantsv1.Theme{}},
	"rheingold": {"Rheingold", "#B8860B", "#6B1D2E", &tenantsv1.Theme{
		Typeface: tenantsv1.Typeface_TYPEFACE_SERIF, Corners: tenantsv1.CornerStyle_CORNER_STYLE_SQUARE,
	}},
	"lorelei-bingo": {"Lorelei Bingo", "#7A1F3D", "", &tenantsv1.Theme{
		Typeface: tenantsv1.Typeface_TYPEFACE_SERIF, Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
	}},
}

// brandPage is a link of a demo brand. Without a hero picture, its first view is the brand's wrapping paper.
func (f *fixture) brandPage(slug string, withHero bool) *linksv1.GetClaimPageResponse {
	brand, page := brands[slug], f.openPage("en-US", "#000000")
	page.Brand.Name, page.Brand.PrimaryColour = brand.name, proto.String(brand.colour)
	page.Brand.LogoUrl = proto.String(f.base + images + "logo-" + slug)
	page.Brand.Site.Theme = proto.CloneOf(brand.theme)
	if brand.accent != "" {
		page.Brand.Site.Theme.AccentColour = proto.String(brand.accent)
	}
	if withHero {
		page.Brand.Hero = []*linksv1.ClaimImage{{Url: f.base + images + "hero-" + slug}}
	}
	return page
}

func TestEachBrandIsReceivedInItsOwnPaper(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for slug := range brands {
			for _, withHero := range []bool{false, true} {
				f.reset(f.brandPage(slug, withHero))
				name := map[bool]string{false: "60-" + slug + "-paper", true: "60-" + slug + "-hero"}[withHero]
				b.visit(t, f.base+"/c/"+token, 200)
				b.inspectSchemes(t, name)
			}
			b.press(t, ".letter .button")
			b.inspectSchemes(t, "61-"+slug+"-gifts")
			b.visit(t, f.base+"/c/"+token+"?gift=steel-bottle", 200)
			b.inspectSchemes(t, "61-"+slug+"-gift")
		}
		for _, scheme := range []tenantsv1.ColourScheme{
			tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT, tenantsv1.ColourScheme_COLOUR_SCHEME_DARK,
		} {
			page := f.brandPage("lorelei-bingo", true)
			page.Brand.Site.Theme.ColourScheme = scheme
			f.reset(page)
			b.visit(t, f.base+"/c/"+token, 200)
			b.inspectSchemes(t, "61-"+scheme.String())
		}
	})
}

// rows are the numbers of gifts in each row of the list.
const rows = `(() => {
	const rows = new Map();
	for (const card of document.querySelectorAll(".gifts > :not([hidden])")) {
		const box = card.getBoundingClientRect(), whole = box.width > card.parentElement.getBoundingClientRect().width - 2;
		rows.set(Math.round(box.top), (rows.get(Math.round(box.top)) ?? 0) + (whole ? 100 : 1));
	}
	return [...rows.values()];
})()`

func TestNoRowHasASingleGift(t *testing.T) {
	const whole = 100 // A gift that takes the whole row.
	wanted := map[string]map[int][]int{
		"desktop": {2: {2}, 3: {3}, 4: {2, 2}, 5: {2, 3}, 6: {3, 3}, 7: {2, 2, 3}, 8: {2, 3, 3}, 9: {3, 3, 3}},
		"phone": {
			2: {whole, whole}, 6: {whole, whole, whole, whole, whole, whole}, 7: {whole, 2, 2, 2}, 8: {2, 2, 2, 2},
		},
	}
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		all := []*linksv1.ClaimGift{}
		for _, slug := range []string{
			"barolo", "bathrobe", "weekend-bag", "tea-chest", "silk-scarf", "record-player", "moka-set", "chess-set", "wool-throw",
		} {
			all = append(all, f.gift(slug, "A gift: "+slug, "Made with care, and packed by hand."))
		}
		all[2].OutOfStock = true
		for gifts, want := range wanted[b.screen.name] {
			page := f.brandPage("rheingold", false)
			page.Gifts = all[:gifts]
			f.reset(page)
			b.visit(t, f.base+"/c/"+token+"?step=choose", 200)
			require.Equal(t, want, get(t, b, chromedp.Evaluate[[]int](rows)), "%d gifts", gifts)
			b.inspect(t, fmt.Sprintf("62-gifts-%d", gifts))
		}
	})
}

// likeMovement emulates a device with animations.
func (b *browser) likeMovement(t *testing.T) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "no-preference"}},
	})
	require.NoError(t, err)
}

func TestTheGiftIsUnwrappedAndThenEverythingIsUsable(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		b.likeMovement(t)
		f.reset(f.brandPage("lorelei-bingo", true))
		b.visit(t, f.base+"/c/"+token, 200)
		require.Zero(t, get(t, b, chromedp.Evaluate[int](`document.getAnimations().length`)), "it waits for the player")
		require.Equal(t, "hidden", b.value(t, `getComputedStyle(document.querySelector(".letter .go")).visibility`))
		require.Equal(t, "A gift for Astrid", b.text(t, ".tag b"), "it says whom it is for")
		require.Equal(t, "rgba(0, 0, 0, 0)", b.value(t, `getComputedStyle(document.querySelector(".paper")).webkitTapHighlightColor`))
		b.requireAccessible(t)
		const width = `document.querySelector(".paper .button").getBoundingClientRect().width`
		before := get(t, b, chromedp.Evaluate[float64](width))
		b.press(t, ".paper .button")
		require.Equal(t, "0", b.value(t, `String(scrollY)`), "the page stays where it is")
		require.Positive(t, get(t, b, chromedp.Evaluate[int](`document.getAnimations().length`)))
		b.do(t, chromedp.Evaluate[chromedp.Void](
			`document.getAnimations().forEach((a) => { a.pause(); a.currentTime = 300; }); undefined`))
		require.InDelta(t, before, get(t, b, chromedp.Evaluate[float64](width)), 1, "only the bow is pulled apart")
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.getAnimations().forEach((a) => a.finish()); undefined`))
		require.Equal(t, "hidden", b.value(t, `getComputedStyle(document.querySelector(".paper")).visibility`))
		b.requireAccessible(t)
		b.press(t, ".letter .button")
		require.Contains(t, b.text(t, "h1"), "Choose the gift")
	})
}

func TestAnOrderWhosePictureIsGoneShowsWrappingPaper(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for _, scripts := range []bool{true, false} {
			f.reset(f.brandPage("rheingold", false))
			b.review(t, f)
			b.press(t, ".confirm .send")
			f.locked(func() { f.order.Gift.Shown.Images[0].Url = f.base + images + "gone" })
			if !scripts {
				b.withoutScripts(t)
			}
			b.visit(t, f.base+"/c/"+token, 200)
			b.await(t, `(({ complete, naturalWidth }) => complete && naturalWidth === 0)(document.querySelector(".prize img"))`)
			const picture = `getComputedStyle(document.querySelector(".prize img")`
			if scripts {
				b.inspectSchemes(t, "66-no-picture")
				require.Equal(t, "hidden", b.value(t, picture+`).visibility`))
				require.Contains(t, b.value(t, `getComputedStyle(document.querySelector(".prize")).backgroundImage`), "svg")
				require.Zero(t, get(t, b, chromedp.Evaluate[measured](measure, chromedp.EvalAwaitPromise)).CLS)
				continue
			}
			b.screenshot(t, "66-no-picture-no-script")
			require.Equal(t, `"Dark truffles, box of 24"`, b.value(t, picture+`, "::after").content`))
			require.Contains(t, b.value(t, picture+`, "::before").backgroundImage`), "svg")
		}
	})
}

// The logo of a brand without one for dark pages is on a white plate there.
func TestTheLogoIsSeenOnLightAndOnDarkPages(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		const shown = `(() => {
			const logo = document.querySelector(".logo");
			return logo.currentSrc.split("/").pop() + " on " + getComputedStyle(logo).backgroundColor;
		})()`
		const offCentre = `(() => {
			const logo = document.querySelector(".logo").getBoundingClientRect();
			const band = document.querySelector(".band").getBoundingClientRect();
			return (logo.left + logo.right - band.left - band.right) / 2;
		})()`
		const bare, plate = " on rgba(0, 0, 0, 0)", " on rgb(255, 255, 255)"
		for slug, onDark := range map[string]string{
			"fjord-live": "logo-fjord-live" + plate, "lorelei-bingo": "logo-lorelei-bingo-dark" + bare,
		} {
			page := f.brandPage(slug, true)
			if strings.HasSuffix(onDark, bare) {
				page.Brand.Site.Theme.DarkLogoImageId = proto.String("logo-" + slug + "-dark")
			}
			f.reset(page)
			b.visit(t, f.base+"/c/"+token, 200)
			require.Equal(t, "logo-"+slug+bare, b.value(t, shown))
			require.InDelta(t, 0, get(t, b, chromedp.Evaluate[float64](offCentre)), 1, "%s: it is in the middle", slug)
			before := b.value(t, `JSON.stringify(document.querySelector(".logo").getBoundingClientRect())`)
			b.media(t, "prefers-color-scheme", "dark")
			b.await(t, shown+` === "`+onDark+`"`)
			require.Equal(t, before, b.value(t, `JSON.stringify(document.querySelector(".logo").getBoundingClientRect())`))
			b.inspect(t, "62-"+slug+"-logo-dark")
			b.media(t, "prefers-color-scheme", "light")
		}
	})
}

func TestTheTagIsOnTheFirstScreen(t *testing.T) {
	for name, size := range map[string][2]int64{"small": {320, 568}, "on its side": {844, 390}} {
		t.Run(name, func(t *testing.T) {
			f, b := newFixture(t), openBrowser(t, screen{name, size[0], size[1], screens[0].options[:2]})
			b.likeMovement(t)
			f.reset(f.brandPage("rheingold", false))
			b.visit(t, f.base+"/c/"+token, 200)
			bottom := get(t, b, chromedp.Evaluate[float64](`document.querySelector(".tag").getBoundingClientRect().bottom`))
			require.Less(t, bottom, float64(size[1]))
		})
	}
}
