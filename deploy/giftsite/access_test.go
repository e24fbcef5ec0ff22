//go:build browser

package giftsite_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// eachPage visits every page of a link up to the order.
func (b *browser) eachPage(t *testing.T, f *fixture, look func(name string)) {
	t.Helper()
	f.show(f.withLook(f.openPage("de-DE", "#1B4B8F")))
	b.visit(t, f.base+"/c/"+token, 200)
	look("greeting")
	b.press(t, ".letter .button")
	look("gifts")
	b.visit(t, f.base+"/c/"+token+"?gift=steel-bottle", 200)
	look("gift")
	b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
	b.press(t, ".send")
	look("country")
	b.fill(t, "070")
	b.press(t, ".send")
	look("address")
	b.fill(t, "+46701234567")
	b.press(t, ".send")
	look("review")
	b.press(t, ".confirm .send")
	look("thanks")
}

func TestPagesCanBeEnlarged(t *testing.T) {
	// At 200 %, a window has half as many CSS pixels.
	b := openBrowser(t, screen{name: "zoom", width: 640, height: 450, options: []chromedp.EmulateViewportOption{chromedp.EmulateScale(2)}})
	b.eachPage(t, newFixture(t), func(name string) { b.inspect(t, "40-"+name) })
}

func TestPagesCanBeReadFromRightToLeft(t *testing.T) {
	b := openBrowser(t, screens[0])
	b.eachPage(t, newFixture(t), func(name string) {
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.documentElement.dir = "rtl"; undefined`))
		b.inspect(t, "44-"+name+"-rtl")
		require.GreaterOrEqual(t, get(t, b, chromedp.Evaluate[float64](`Math.min(...[...document.querySelectorAll("main *")].map((e) => e.checkVisibility() && !e.closest(".unseen, .filters") ? e.getBoundingClientRect().left : 0))`)), -1.0)
	})
}

func TestPagesAreVisibleInForcedColours(t *testing.T) {
	b := openBrowser(t, screens[0])
	b.media(t, "forced-colors", "active")
	b.eachPage(t, newFixture(t), func(name string) {
		b.inspect(t, "41-"+name+"-forced")
		if name == "gift" {
			require.True(t, get(t, b, chromedp.Evaluate[bool](`[...document.querySelectorAll(".option input")].every((i) => getComputedStyle(i).opacity === "1")`)))
		}
	})
}

func TestTheThanksPageIsPrinted(t *testing.T) {
	b := openBrowser(t, screens[1])
	b.eachPage(t, newFixture(t), func(string) {})
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	require.NoError(t, err)
	b.screenshot(t, "42-print")
	for _, hidden := range []string{".links", ".skip", ".quiet"} {
		require.False(t, get(t, b, chromedp.Evaluate[bool](`document.querySelector("`+hidden+`").checkVisibility()`)), hidden)
	}
	require.Equal(t, "rgb(20, 23, 28)", b.value(t, `getComputedStyle(document.body).color`), "paper is light, even if the device is dark")
	require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
	pdf, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(os.Getenv(screenshotsVariable), b.folder, "42-print.pdf"), pdf.Data, 0o600))
}

// named are the roles of what a player uses or hears by its name.
var named = map[string]bool{"button": true, "link": true, "textbox": true, "combobox": true, "radio": true, "heading": true, "group": true, "image": true}

func TestScreenReadersReadANameForEverything(t *testing.T) {
	for _, locale := range []string{"de-DE", "sv-SE", "en-US"} {
		t.Run(locale, func(t *testing.T) {
			f, b := newFixture(t), openBrowser(t, screens[0])
			read := map[string][]string{}
			b.eachPage(t, f, func(name string) {
				f.change(func() { f.page.Locale = locale })
				b.do(t, chromedp.Reload(), chromedp.WaitReady(chromedp.CSS("main")))
				tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
				require.NoError(t, err)
				for _, node := range tree.Nodes {
					role, text := valueOf(t, node.Role), valueOf(t, node.Name)
					if !node.Ignored && named[role] {
						require.NotEmpty(t, text, "%s: a %s without a name", name, role)
						read[name] = append(read[name], role+" "+text)
					}
				}
			})
			require.Contains(t, read["greeting"], map[string]string{
				"de-DE": "heading Ein Geschenk für Astrid", "sv-SE": "heading En gåva till Astrid", "en-US": "heading A gift for Astrid",
			}[locale])
			require.Contains(t, read["gift"], "image Nordlys Casino")
			require.Contains(t, read["address"], map[string]string{
				"de-DE": "textbox Vor- und Nachname", "sv-SE": "textbox För- och efternamn", "en-US": "textbox Full name",
			}[locale])
		})
	}
}

func valueOf(t *testing.T, v *accessibility.Value) (text string) {
	t.Helper()
	if v == nil || json.Unmarshal([]byte(v.Value), &text) != nil {
		return ""
	}
	return text
}

func TestEveryThemeIsAccessible(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for name, theme := range map[string]*tenantsv1.Theme{
			"square-grotesk": {Typeface: tenantsv1.Typeface_TYPEFACE_GROTESK, Corners: tenantsv1.CornerStyle_CORNER_STYLE_SQUARE, AccentColour: proto.String("#B8860B")},
			"dark-humanist":  {Typeface: tenantsv1.Typeface_TYPEFACE_HUMANIST, ColourScheme: tenantsv1.ColourScheme_COLOUR_SCHEME_DARK, AccentColour: proto.String("#FFE14D")},
			"light-system":   {ColourScheme: tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT, Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND},
		} {
			link := f.openPage("en-US", "#7A1F3D")
			link.Message, link.Brand.Site.Theme = nil, theme
			link.Brand.Name, link.Brand.LogoUrl = "Lorelei Bingo", proto.String(f.base+images+"logo-lorelei-bingo")
			link.Brand.Hero = []*linksv1.ClaimImage{{Url: f.base + images + "hero-lorelei-bingo"}}
			f.show(link)
			b.visit(t, f.base+"/c/"+token, 200)
			b.inspectSchemes(t, "43-"+name)
			b.visit(t, f.base+"/c/"+token+"?gift=steel-bottle", 200)
			b.inspectSchemes(t, "43-"+name+"-gift")
		}
	})
}
