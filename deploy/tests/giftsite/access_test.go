//go:build browser

package giftsite_test

import (
	"bytes"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// eachPage visits every page of a link up to the order.
func (b *browser) eachPage(t *testing.T, f *fixture, locale string, look func(name string)) {
	t.Helper()
	f.reset(f.withLook(f.openPage(locale, "#1B4B8F")))
	b.eachPageOf(t, f, look)
}

func (b *browser) eachPageOf(t *testing.T, f *fixture, look func(name string)) {
	t.Helper()
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

// brokenWords are those that begin on one line and end on another, without those that are wider than a small screen.
const brokenWords = `(() => {
	const broken = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), word = document.createRange();
	while (texts.nextNode()) {
		const text = texts.currentNode;
		if (!text.parentElement.checkVisibility() || text.parentElement.closest("style, script, select, .unseen")) continue;
		for (const found of text.data.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]{1,16}(?![\p{L}\p{N}])/gu)) {
			word.setStart(text, found.index);
			word.setEnd(text, found.index + found[0].length);
			if (new Set([...word.getClientRects()].map((r) => Math.round(r.top))).size > 1) broken.push(found[0]);
		}
	}
	return broken;
})()`

func (b *browser) requireWholeWords(t *testing.T, page string) {
	t.Helper()
	require.Empty(t, get(t, b, chromedp.Evaluate[[]string](brokenWords)), page)
}

// At 200 %, the window of a desktop has half as many CSS pixels, and a phone shows letters of twice the size.
func TestPagesCanBeEnlarged(t *testing.T) {
	desktop := screen{name: "zoom", width: 640, height: 450, options: []chromedp.EmulateViewportOption{chromedp.EmulateScale(2)}}
	for _, locale := range locales {
		t.Run("desktop "+locale, func(t *testing.T) {
			b := openBrowser(t, desktop)
			b.withoutPictures = locale != "de-DE" // It has the longest words.
			b.eachPage(t, newFixture(t), locale, func(name string) {
				b.inspect(t, "40-"+name)
				b.requireWholeWords(t, name)
			})
		})
		t.Run("phone "+locale, func(t *testing.T) {
			b := openBrowser(t, screens[0])
			b.withoutPictures = locale != "de-DE"
			_, err := chromedp.Call(b.ctx, page.SetFontSizes, page.SetFontSizesParams{FontSizes: &page.FontSizes{Standard: 32}})
			require.NoError(t, err)
			b.eachPage(t, newFixture(t), locale, func(name string) {
				require.Equal(t, "32px", b.value(t, "getComputedStyle(document.documentElement).fontSize"))
				b.inspect(t, "40-"+name+"-large")
				b.requireWholeWords(t, name)
			})
		})
	}
}

func TestPagesAreVisibleInForcedColours(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		b.media(t, "forced-colors", "active")
		b.eachPage(t, f, locale, func(name string) {
			b.inspect(t, "41-"+name+"-forced")
			if name == "gift" {
				require.True(t, get(t, b,
					chromedp.Evaluate[bool](`[...document.querySelectorAll(".option input")].every((i) => getComputedStyle(i).opacity === "1")`)))
			}
		})
	})
}

func TestTheThanksPageIsPrinted(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		b.eachPage(t, f, locale, func(string) {})
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		require.NoError(t, err)
		b.screenshot(t, "42-print")
		for _, hidden := range []string{".links", ".skip", ".quiet"} {
			require.False(t, get(t, b, chromedp.Evaluate[bool](`document.querySelector("`+hidden+`").checkVisibility()`)), hidden)
		}
		require.Equal(t, "rgb(20, 23, 28)", b.value(t, `getComputedStyle(document.body).color`),
			"paper is light, even if the device is dark")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
		pdf, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{})
		require.NoError(t, err)
		require.Equal(t, 1, bytes.Count(pdf.Data, []byte("/Type /Page\n")), "it is one sheet of paper")
		if !b.withoutPictures {
			b.save(t, "42-print-"+b.screen.name+".pdf", pdf.Data)
		}
	})
}
