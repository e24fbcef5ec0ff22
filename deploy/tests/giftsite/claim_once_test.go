//go:build browser

package giftsite_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// withoutScripts turns off the scripts of pages. Those of tests still run.
func (b *browser) withoutScripts(t *testing.T) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
}

// slowDown emulates a network with the latency in milliseconds, and 1.6 Mbit/s down and 750 kbit/s up as a slow 4G.
func (b *browser) slowDown(t *testing.T, latency float64) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{
			URLPattern: "", Latency: latency, DownloadThroughput: 1_600_000 / 8, UploadThroughput: 750_000 / 8,
		}},
	})
	require.NoError(t, err)
}

func (b *browser) center(t *testing.T, selector string) (x, y float64) {
	t.Helper()
	at := get(t, b, chromedp.Evaluate[[]float64](`(() => {
		const e = document.querySelector("`+selector+`");
		e.scrollIntoView({ block: "center" });
		const box = e.getBoundingClientRect();
		return [box.x + box.width / 2, box.y + box.height / 2];
	})()`))
	return at[0], at[1]
}

func TestClicksInARowOnASlowNetworkPlaceOneOrderAndShowItsReference(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		for name, clicks := range map[string]int{"two": 2, "three": 3} {
			t.Run(name+" with scripts", func(t *testing.T) { b.testClicks(t, f, locale, clicks) })
		}
		b.withoutScripts(t)
		for name, clicks := range map[string]int{"two": 2, "three": 3} {
			t.Run(name+" without scripts", func(t *testing.T) { b.testClicks(t, f, locale, clicks) })
		}
	})
}

// testClicks clicks again before the response to the first click arrives. Whether a browser then sends the form again is up to it:
// Chromium does not. The tests of the gateway send it twice.
func (b *browser) testClicks(t *testing.T, f *fixture, locale string, clicks int) {
	t.Helper()
	f.reset(f.openPage(locale, "#1B4B8F"))
	b.review(t, f)
	x, y := b.center(t, ".confirm .send")
	b.awaitPaint(t)
	saves, arrives := f.sent(), make(chan struct{})
	f.locked(func() { f.sendClaimResponse = arrives })
	for range clicks {
		b.do(t, chromedp.MouseClickXY(x, y))
		f.awaitBlockedClaim(t)
	}
	f.locked(func() { f.sendClaimResponse = nil })
	close(arrives)
	b.await(t, `document.querySelector(".reference")?.textContent.includes("NP-4F7K2M") === true`)
	f.locked(func() {
		require.Equal(t, 1, f.claims)
		require.Equal(t, saves, f.saves, "no other form was sent")
	})
}

// sent is how many forms were sent so far.
func (f *fixture) sent() (saves int) {
	f.locked(func() { saves = f.saves })
	return saves
}

// What a player does with the buttons of the browser.
const reload, back, forward = "location.reload()", "history.back()", "history.forward()"

// move runs the script, which leads to another page.
func (b *browser) move(t *testing.T, script string) {
	t.Helper()
	b.navigate(t, chromedp.Evaluate[chromedp.Void]("setTimeout(() => "+script+"); undefined"))
}

func TestBackForwardAndReloadSendNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		f.reset(f.openPage(locale, "#1B4B8F"))
		b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
		b.press(t, ".send")
		b.fill(t, "070")
		b.press(t, ".send") // An error.
		b.fill(t, "+46701234567")
		b.press(t, ".send")
		sent := f.sent()
		for _, move := range []string{reload, back, reload, back, forward, forward, reload} {
			b.move(t, move)
			require.Equal(t, sent, f.sent())
		}
		b.press(t, ".confirm .send")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
		for _, move := range []string{reload, back, back, forward, reload} {
			b.move(t, move)
			require.Equal(t, sent, f.sent())
		}
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
		require.Equal(t, 1, f.claims)
	})
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

func TestAPlayerWhoComesBackFromWebmailSeesTheOrder(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		f.reset(f.openPage(locale, "#1B4B8F"))
		b.review(t, f)
		b.press(t, ".confirm .send")
		mail := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<a href="` + f.base + "/c/" + token + `">Your gift</a>`))
		}))
		defer mail.Close()
		b.visit(t, strings.Replace(mail.URL, "127.0.0.1", "localhost", 1), 200) // Another site.
		b.press(t, "a")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
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
