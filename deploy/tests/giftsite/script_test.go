//go:build browser

package giftsite_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const visibleGifts = `[...document.querySelectorAll(".gifts > li")].filter((gift) => gift.checkVisibility()).length`

// manyGifts is a link with so many gifts that they can be filtered.
func (f *fixture) manyGifts(locale string) *linksv1.GetClaimPageResponse {
	page := f.openPage(locale, "#1B4B8F")
	page.Message = nil
	page.Categories = []*linksv1.ClaimCategory{
		{Code: "FOOD", Name: "Food & sweets"}, {Code: "HOME", Name: "Home"}, {Code: "SPORT", Name: "Sport"},
	}
	for i, g := range page.GetGifts() {
		g.Categories = []string{[]string{"FOOD", "HOME"}[i%2]}
	}
	for i, slug := range []string{
		"barolo", "chess-set", "wool-throw", "honey-library", "record-player", "moka-set", "silk-scarf", "tea-chest", "weekend-bag",
	} {
		g := f.gift(slug, slug, "A gift.")
		g.Categories = []string{[]string{"FOOD", "HOME"}[i%2]}
		page.Gifts = append(page.Gifts, g)
	}
	page.Gifts[len(page.GetGifts())-1].Categories = []string{"SPORT"}
	return page
}

func TestGiftsAreFilteredWithoutANewPage(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		f.reset(f.manyGifts("sv-SE"))
		b.visit(t, f.base+"/c/"+token+"?step=choose", 200)
		all := get(t, b, chromedp.Evaluate[int64](visibleGifts))
		require.Equal(t, int64(14), all)
		b.do(t, chromedp.Evaluate[chromedp.Void]("window.same = true; undefined"))
		b.click(t, `[data-filter="SPORT"]`)
		require.Equal(t, int64(1), get(t, b, chromedp.Evaluate[int64](visibleGifts)))
		require.True(t, get(t, b, chromedp.Evaluate[bool]("window.same === true")), "it is still the same page")
		b.inspect(t, "30-filtered")
		b.move(t, reload)
		require.Equal(t, int64(1), get(t, b, chromedp.Evaluate[int64](visibleGifts)), "a reload keeps the filter")
		b.click(t, `[data-filter=""]`)
		require.Equal(t, all, get(t, b, chromedp.Evaluate[int64](visibleGifts)))
		b.inspectSchemes(t, "30-filters")
	})
}

// In production links have a host of their own. Its pages show the pictures of the API's host.
func TestAllIsLoadedWhereLinksHaveTheirOwnHost(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screens[0])
	f.reset(f.manyGifts("sv-SE"))
	b.visit(t, strings.Replace(f.base, "127.0.0.1", "localhost", 1)+"/c/"+token+"?step=choose", 200)
	b.click(t, `[data-filter="SPORT"]`)
	require.Equal(t, int64(1), get(t, b, chromedp.Evaluate[int64](visibleGifts)))
	require.Equal(t, "true", b.value(t, `String(document.querySelector(".logo").naturalWidth > 0)`))
	b.requireNoErrors(t)
}

func TestAFormThatCouldNotBeKeptIsSentAgain(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screens[0])
	f.reset(f.openPage("en-US", "#1B4B8F"))
	b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
	b.press(t, ".send")
	b.fill(t, "+46701234567")
	f.locked(func() { f.unavailable = true })
	b.press(t, ".send")
	b.inspect(t, "34-failing-form")
	f.locked(func() { f.unavailable = false })
	b.press(t, ".retry")
	require.Contains(t, b.text(t, ".lines-to"), "Storgatan 1")
}

func TestAButtonSaysThatItsFormIsBeingSent(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		f.reset(f.openPage(locale, "#1B4B8F"))
		b.review(t, f)
		words := b.text(t, ".confirm .send")
		// While a form is being sent, Chromium does not answer. So this one only seems to be sent.
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.addEventListener("submit", (event) => event.preventDefault()); undefined`))
		b.click(t, ".confirm .send")
		b.await(t, `document.querySelector(".pending") !== null`)
		require.NotEqual(t, words, b.text(t, ".confirm .send"))
		require.Contains(t, b.text(t, ".confirm .send"), "…")
		require.Equal(t, "true", b.value(t, `document.querySelector(".confirm .send").getAttribute("aria-disabled")`))
		b.inspect(t, "32-pending")
	})
}

// withoutScripts turns off the scripts of pages. Those of tests still run.
func (b *browser) withoutScripts(t *testing.T) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
}

// What a player does with the buttons of the browser.
const reload, back = "location.reload()", "history.back()"

// move runs the script, which leads to another page.
func (b *browser) move(t *testing.T, script string) {
	t.Helper()
	b.navigate(t, chromedp.Evaluate[chromedp.Void]("setTimeout(() => "+script+"); undefined"))
}

func TestAButtonCanBePressedAgainAfterBack(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		f.reset(f.openPage(locale, "#1B4B8F"))
		b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
		words := b.text(t, ".send")
		b.press(t, ".send")
		b.move(t, back)
		require.Equal(t, words, b.text(t, ".send"))
		b.press(t, ".send")
		require.Equal(t, int64(1), get(t, b, chromedp.Evaluate[int64](`document.querySelectorAll("#country").length`)))
	})
}

func TestEverythingWorksWithoutScripts(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		f.reset(f.manyGifts(locale))
		b.withoutScripts(t)
		b.visit(t, f.base+"/c/"+token+"?step=choose", 200)
		b.press(t, `.filters a[href*="SPORT"]`)
		require.Equal(t, int64(1), get(t, b, chromedp.Evaluate[int64](visibleGifts)))
		b.review(t, f)
		b.press(t, ".confirm .send")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")

		b.do(t, chromedp.SetValue(chromedp.CSS("#word"), strings.Repeat("å", 281)))
		b.press(t, "form .quiet")
		require.Equal(t, strings.Repeat("å", 281), b.value(t, `document.querySelector("#word").value`))
		b.do(t, chromedp.SetValue(chromedp.CSS("#word"), "So kind of you!"))
		b.press(t, "form .quiet")
		require.Equal(t, "So kind of you!", b.text(t, "blockquote"))
	})
}
