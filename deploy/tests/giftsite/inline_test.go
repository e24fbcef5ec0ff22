//go:build browser

package giftsite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

// enter types a text and leaves the input.
func (b *browser) enter(t *testing.T, input, text string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const i = document.querySelector("#%s");
		i.value = %q; i.dispatchEvent(new Event("input")); i.dispatchEvent(new Event("change"));
	}; undefined`, input, text)))
}

const markupOf = `document.querySelector("#%s").outerHTML.replace(/\s+/g, " ")`

// Screen readers read an error that the script has found like one of the server.
func TestAnErrorOfTheScriptIsThatOfTheServer(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screens[0])
	f.reset(f.openPage("ar", "#1B4B8F"))
	b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
	b.press(t, ".send")
	b.fill(t, "07")
	b.enter(t, "phone", "07")
	inline := b.value(t, fmt.Sprintf(markupOf, "phone-error"))
	require.Contains(t, inline, `<span class="unseen">خطأ: </span>`)
	b.inspect(t, "33-error-ar")
	b.press(t, ".send")
	require.Equal(t, b.value(t, fmt.Sprintf(markupOf, "phone-error")), inline)
	b.enter(t, "phone", "+46 70 123 45 67")
	require.Equal(t, "null", b.value(t, `String(document.querySelector("#phone-error"))`))
}

// An error that appears when the player taps the button moves it only after the tap.
func TestATapOnTheButtonIsNotLostToAnError(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screens[0])
	f.reset(f.openPage("de-DE", "#1B4B8F"))
	b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
	b.press(t, ".send")
	b.fill(t, "+46701234567")
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("#email").focus(); undefined`), chromedp.KeyEvent("no address"))
	b.press(t, ".send")
	require.Contains(t, b.text(t, ".lines-to"), "Storgatan 1", "the form was sent")
}

func TestAnUnusualPostalCodeIsOnlyAdvice(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screens[0])
	f.reset(f.openPage("de-DE", "#1B4B8F"))
	b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
	b.press(t, ".send")
	b.fill(t, "+46701234567")
	const advice = "#postalCode-advice"
	for text, unusual := range map[string]bool{"111 22": false, "11122": false, "1112": true, "111 222": true, "": false} {
		b.enter(t, "postalCode", text)
		require.Equal(t, unusual, get(t, b, chromedp.Evaluate[bool](`document.querySelector("`+advice+`") !== null`)), text)
	}
	b.enter(t, "postalCode", "1112")
	inline := b.value(t, fmt.Sprintf(markupOf, "postalCode-advice"))
	described := b.value(t, `document.querySelector("#postalCode").getAttribute("aria-describedby")`)
	require.Equal(t, "null", b.value(t, `String(document.querySelector("#postalCode").getAttribute("aria-invalid"))`))
	b.inspect(t, "34-postal-code")
	b.press(t, ".send")
	require.Contains(t, b.text(t, "main"), "Storgatan 1", "it is sent")
	b.visit(t, f.base+"/c/"+token+"?step=address", 200)
	require.Equal(t, b.value(t, fmt.Sprintf(markupOf, "postalCode-advice")), inline)
	require.Equal(t, b.value(t, `document.querySelector("#postalCode").getAttribute("aria-describedby")`), described)
	b.requireNoErrors(t)
}

func TestALongLabelLeavesRoomForTheMessage(t *testing.T) {
	for _, locale := range []string{"sv-SE", "ar"} {
		for name, label := range map[string]string{"words": strings.Repeat("Åsa och Örjan ", 18), "word": strings.Repeat("W", 255)} {
			t.Run(locale+" "+name, func(t *testing.T) {
				f, b := newFixture(t), openBrowser(t, screens[0])
				page := f.openPage(locale, "#1B4B8F")
				page.Label, page.Message = label, proto.String("Grattis!\n\nStora kramar\nfrån oss alla")
				f.reset(page)
				b.visit(t, f.base+"/c/"+token, 200)
				b.inspect(t, "35-long-"+name+"-"+locale)
				heading := get(t, b, chromedp.Evaluate[float64](`document.querySelector("h1").getBoundingClientRect().height`))
				require.Less(t, heading, float64(screens[0].height)/4, "the heading is less than a quarter of the screen")
				bottom := get(t, b, chromedp.Evaluate[float64](`document.querySelector("blockquote").getBoundingClientRect().bottom`))
				require.Less(t, bottom, float64(screens[0].height), "the message is on the first screen")
				lines := get(t, b, chromedp.Evaluate[float64](`document.querySelector("blockquote p").getBoundingClientRect().height`))
				require.Greater(t, lines, 4*1.1875*16.0, "four lines")
			})
		}
	}
}
