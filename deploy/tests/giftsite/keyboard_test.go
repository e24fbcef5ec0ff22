//go:build browser

package giftsite_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// tabTo presses the tab key until the element has the focus. Whatever has it on the way is marked.
func (b *browser) tabTo(t *testing.T, selector string) {
	t.Helper()
	b.awaitPaint(t)
	const stops = 40
	for range stops {
		b.do(t, chromedp.KeyEvent("\t"))
		mark := b.value(t, `(() => {
			const focused = document.activeElement;
			if (focused === document.body) return "the end of the page";
			const marks = [getComputedStyle(focused), getComputedStyle(focused, "::after")];
			if (focused.matches(".option input")) marks.push(getComputedStyle(focused.nextElementSibling));
			const seen = marks.filter((mark) => mark.outlineStyle !== "none" && parseFloat(mark.outlineWidth) >= 2);
			return seen.map((mark) => mark.outline).join();
		})()`)
		require.NotEmpty(t, mark, "the focus is not visible at %s", b.value(t, "document.activeElement.outerHTML"))
		if get(t, b, chromedp.Evaluate[bool](`document.activeElement.matches("`+selector+`")`)) {
			return
		}
	}
	require.Fail(t, "the tab key does not reach "+selector)
}

// pressEnter presses the return key and waits for the element of the next page.
func (b *browser) pressEnter(t *testing.T, next string) {
	t.Helper()
	b.do(t, chromedp.KeyEvent("\r"))
	b.await(t, `document.querySelector("`+next+`") !== null`)
}

func TestAGiftCanBeClaimedWithTheKeyboardOnly(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		f.reset(f.openPage(locale, "#1B4B8F"))
		b.visit(t, f.base+"/c/"+token, 200)
		b.tabTo(t, ".skip")
		b.do(t, chromedp.KeyEvent("\r"))
		b.tabTo(t, ".letter .button")
		b.pressEnter(t, ".gifts")
		b.tabTo(t, "a.choose[href*=steel-bottle]")
		b.pressEnter(t, ".choices")
		for _, group := range []string{"#choice-0 input", "#choice-1 input"} {
			b.tabTo(t, group)
			b.do(t, chromedp.KeyEvent(" "))
		}
		b.tabTo(t, ".send")
		b.inspect(t, "15-focus")
		b.pressEnter(t, "#country")
		if b.value(t, `document.querySelector("#country").value`) != "SE" {
			b.tabTo(t, "#country")
			b.do(t, chromedp.KeyEvent(map[string]string{"en-US": "Swe", "de-DE": "Schwe"}[locale]))
			require.Equal(t, "SE", b.value(t, `document.querySelector("#country").value`))
			b.await(t, formFollowed)
		}
		for _, text := range [][2]string{
			{"#name", "Ada Player"}, {"#street", "Storgatan 1"}, {"#postalCode", "111 22"}, {"#city", "Stockholm"}, {"#phone", "701234567"},
		} {
			b.tabTo(t, text[0])
			b.do(t, chromedp.KeyEvent(text[1]))
		}
		b.tabTo(t, "button[value=address]:not(.unseen)")
		b.pressEnter(t, ".confirm")
		require.Contains(t, b.text(t, ".facts"), "+46 70 123 45 67")
		b.tabTo(t, ".confirm .send")
		b.pressEnter(t, ".reference")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
	})
}
