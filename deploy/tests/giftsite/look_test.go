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
		at := func(name string, milliseconds int) {
			b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
				`document.getAnimations().forEach((a) => { a.pause(); a.currentTime = %d; }); undefined`, milliseconds)))
			b.save(t, "63-unwrapping-"+name+"-"+b.screen.name+".png", get(t, b, chromedp.CaptureScreenshot()))
		}
		require.Zero(t, get(t, b, chromedp.Evaluate[int](`document.getAnimations().length`)), "it waits for the player")
		require.Equal(t, "hidden", b.value(t, `getComputedStyle(document.querySelector(".letter .go")).visibility`))
		require.Equal(t, "A gift for Astrid", b.text(t, ".tag b"), "it says whom it is for")
		require.Equal(t, "rgba(0, 0, 0, 0)", b.value(t, `getComputedStyle(document.querySelector(".paper")).webkitTapHighlightColor`))
		b.requireAccessible(t)
		b.save(t, "63-unwrapping-0-closed-"+b.screen.name+".png", get(t, b, chromedp.CaptureScreenshot()))
		const width = `document.querySelector(".paper .button").getBoundingClientRect().width`
		before := get(t, b, chromedp.Evaluate[float64](width))
		b.press(t, ".paper .button")
		require.Equal(t, "0", b.value(t, `String(scrollY)`), "the page stays where it is")
		require.Positive(t, get(t, b, chromedp.Evaluate[int](`document.getAnimations().length`)))
		at("1-untied", 300)
		require.InDelta(t, before, get(t, b, chromedp.Evaluate[float64](width)), 1, "only the bow is pulled apart")
		at("2-opening", 800)
		at("3-nearly", 1150)
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.getAnimations().forEach((a) => a.finish()); undefined`))
		b.save(t, "63-unwrapping-4-open-"+b.screen.name+".png", get(t, b, chromedp.CaptureScreenshot()))
		require.Equal(t, "hidden", b.value(t, `getComputedStyle(document.querySelector(".paper")).visibility`))
		b.requireAccessible(t)
		b.press(t, ".letter .button")
		require.Contains(t, b.text(t, "h1"), "Choose the gift")
	})
}

func TestAnOrderLooksDifferentInEachState(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for _, slug := range []string{"rheingold", "polar-spins"} {
			f.reset(f.brandPage(slug, false))
			b.review(t, f)
			b.inspectSchemes(t, "64-"+slug+"-review")
			b.press(t, ".confirm .send")
			f.locked(func() {
				f.order.Gift.Shown = f.gift("dark-truffles", "Dark truffles, box of 24", "")
			})
			for name, progress := range map[string]linksv1.ClaimProgress{
				"thanks":    linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING,
				"sent":      linksv1.ClaimProgress_CLAIM_PROGRESS_SENT,
				"delivered": linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED,
			} {
				f.locked(func() {
					f.order.Progress = progress
					f.order.Gift.TrackingUrl = map[bool]string{true: "https://carrier.example/1"}[name != "thanks"]
				})
				b.visit(t, f.base+"/c/"+token, 200)
				b.inspectSchemes(t, "64-"+slug+"-"+name)
				if name == "sent" {
					require.Equal(t, "https://carrier.example/1", b.value(t, `document.querySelector("main a").href`), "the first link")
				}
			}
		}
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

// trades are brands that look unlike each other, without pictures of their own.
var trades = map[string]*linksv1.ClaimBrand{
	"casino": {Name: "Lucky Meridian", PrimaryColour: proto.String("#C8102E"), Site: &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{
		AccentColour: proto.String("#F2B705"), Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
	}}},
	"jeweller": {Name: "Maison Aurel", PrimaryColour: proto.String("#1C1B19"), Site: &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{
		AccentColour: proto.String("#B08D57"), Typeface: tenantsv1.Typeface_TYPEFACE_SERIF,
		Corners: tenantsv1.CornerStyle_CORNER_STYLE_SQUARE,
	}}},
	"bank": {Name: "Norr Privatbank", PrimaryColour: proto.String("#12355B"), Site: &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{
		Typeface: tenantsv1.Typeface_TYPEFACE_GROTESK,
	}}},
	"outdoor": {Name: "Tindra Outdoor", PrimaryColour: proto.String("#3F5B3A"), Site: &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{
		AccentColour: proto.String("#D9622B"), Typeface: tenantsv1.Typeface_TYPEFACE_HUMANIST,
	}}},
}

func TestEachTradeHasALookOfItsOwn(t *testing.T) {
	locales := map[string]string{"casino": "en-US", "jeweller": "fr-FR", "bank": "sv-SE", "outdoor": "ar"}
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for trade, brand := range trades {
			page := f.openPage(locales[trade], "#000000")
			page.Brand = proto.CloneOf(brand)
			for _, slug := range []string{"barolo", "tea-chest"} {
				page.Gifts = append(page.Gifts, f.gift(slug, "A gift: "+slug, "Made with care, and packed by hand."))
			}
			page.Gifts[0].Description = "Hand-rolled, with 70 % cocoa.\n\nEach box is packed in linen on the day it leaves the kitchen."
			for _, slug := range []string{"tea-chest", "scented-candle", "barolo"} {
				page.Gifts[0].Images = append(page.Gifts[0].Images, &linksv1.ClaimImage{Url: f.base + images + slug})
			}
			f.reset(page)
			b.visit(t, f.base+"/c/"+token, 200)
			b.inspectSchemes(t, "65-"+trade+"-1-received")
			b.press(t, ".letter .button")
			b.inspectSchemes(t, "65-"+trade+"-2-gifts")
			b.press(t, "a.choose")
			b.inspectSchemes(t, "65-"+trade+"-3-gift")
			b.do(t, chromedp.Click(chromedp.CSS(".thumbs li:nth-child(3) a")))
			b.await(t, `(() => {
				const frame = document.querySelector("#picture-2").getBoundingClientRect();
				const gallery = document.querySelector(".gallery").getBoundingClientRect();
				return Math.abs(frame.left - gallery.left) < 2 && frame.top >= 0;
			})()`)
			b.press(t, ".send")
			b.fill(t, "070")
			b.press(t, ".send")
			b.inspectSchemes(t, "65-"+trade+"-4-address")
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
			before := b.value(t, `JSON.stringify(document.querySelector(".logo").getBoundingClientRect())`)
			b.media(t, "prefers-color-scheme", "dark")
			b.await(t, shown+` === "`+onDark+`"`)
			require.Equal(t, before, b.value(t, `JSON.stringify(document.querySelector(".logo").getBoundingClientRect())`))
			b.inspect(t, "62-"+slug+"-logo-dark")
			b.media(t, "prefers-color-scheme", "light")
		}
	})
}

func TestTheNoteIsSignedOnLightAndOnDarkPages(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for _, locale := range []string{"en-US", "ar"} {
			f.reset(f.withLook(f.openPage(locale, "#1B4B8F")))
			b.visit(t, f.base+"/c/"+token, 200)
			require.Equal(t, "50% 72px", b.value(t, `(() => {
				const portrait = getComputedStyle(document.querySelector(".portrait"));
				return portrait.borderRadius + " " + portrait.width;
			})()`))
			b.inspectSchemes(t, "64-sender-"+locale)
			b.media(t, "prefers-color-scheme", "dark")
			require.Equal(t, "rgb(255, 255, 255)", b.value(t, `getComputedStyle(document.querySelector(".letter")).backgroundColor`),
				"the paper is light")
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
