//go:build browser

package giftsite_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

func TestTheDocumentation(t *testing.T) {
	p := startPlatform(t)
	for _, screen := range screens {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(screen.name+" "+scheme, func(t *testing.T) {
				b := openBrowser(t, screen)
				b.folder = "docs"
				b.media(t, "prefers-color-scheme", scheme)
				site := p.Env["GIFTING_URL"] + "/docs"
				t.Run("pages", func(t *testing.T) { b.testPages(t, site, scheme) })
				t.Run("search", func(t *testing.T) { b.testSearch(t, site, scheme) })
				t.Run("code", func(t *testing.T) { b.testCode(t, site) })
				t.Run("the reader's own", func(t *testing.T) { b.testYours(t, site, p.Env["GIFTING_KEY"]) })
				t.Run("reference", func(t *testing.T) { b.testReference(t, site, scheme, p.Env["GIFTING_KEY_APPROVAL"]) })
				b.requireNoLeak(t, strings.TrimSuffix(p.Env["GIFTING_URL"], "/api/public/v1"))
			})
		}
	}
}

func (b *browser) testPages(t *testing.T, site, scheme string) {
	b.visit(t, site, http.StatusOK)
	links := get(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".sidebar > ul > li > a")].map((a) => a.href)`))
	require.Greater(t, len(links), 10)
	for _, link := range links {
		b.visit(t, link, http.StatusOK)
		b.inspect(t, "1"+strings.ReplaceAll(strings.TrimPrefix(link, site), "/", "-")+"-"+scheme)
	}
}

func (b *browser) testSearch(t *testing.T, site, scheme string) {
	b.visit(t, site+"/quickstart", http.StatusOK)
	b.do(t, chromedp.SendKeys(chromedp.CSS("search input"), "rotate secret"))
	b.await(t, `document.querySelectorAll("search li").length > 0`)
	b.inspect(t, "2-search-"+scheme)
	found := get(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("search li a")].map((a) => a.href)`))
	require.Contains(t, found, site+"/webhooks#rotate")
	require.Contains(t, found, site+"/reference#rotateOwnWebhookSecret")
	b.do(t, chromedp.SendKeys(chromedp.CSS("search input"), " nowhere"))
	b.awaitText(t, "Nothing has all words. Closest:")
	b.visit(t, site, http.StatusOK)
	b.do(t, chromedp.SendKeys(chromedp.CSS("search input"), "webhok\r"))
	b.await(t, `location.pathname.endsWith("/docs/webhooks")`)
}

// testCode chooses a language in the tabs of a sample, and finds it chosen on the page that is read next.
func (b *browser) testCode(t *testing.T, site string) {
	b.visit(t, site+"/orders", http.StatusOK)
	const selected = `[...document.querySelectorAll('[role="tab"][aria-selected="true"]')].every((tab) => tab.innerText === %q)`
	b.await(t, fmt.Sprintf(selected, "Shell"))
	b.do(t, chromedp.Evaluate[chromedp.Void](
		`[...document.querySelectorAll('.heading:has(#correct) ~ .tabs [role="tab"]')]
			.find((tab) => tab.innerText === "Python").click()`))
	b.await(t, fmt.Sprintf(selected, "Python"))
	b.requireAccessible(t)
	b.visit(t, site+"/reference", http.StatusOK)
	b.await(t, fmt.Sprintf(selected, "Python"))
	b.await(t, `document.querySelector("[role=tabpanel]").parentElement.querySelector("button").innerText === "Copy"`)
}

// testYours finds the key of the console, and a choice of the reader's catalog, in the samples of the same tab.
func (b *browser) testYours(t *testing.T, site, key string) {
	const code = `document.querySelector("main").textContent.includes(%q)`
	b.visit(t, site+"/quickstart", http.StatusOK)
	b.await(t, fmt.Sprintf(code, "gft_sbx_your_key"))
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`sessionStorage.setItem("gifting-key", %q)`, key)))
	b.visit(t, site+"/quickstart", http.StatusOK)
	b.await(t, fmt.Sprintf(code, "GIFTING_KEY="+key))
	b.await(t, fmt.Sprintf(code, `"variations": {"Colour":"Oat"}`))
	b.awaitText(t, "This is the key that the console has in this tab.")
	b.requireAccessible(t)
	b.visit(t, site+"/reference/try#tag/webhooks/POST/webhooks:test", http.StatusOK)
	b.await(t, fmt.Sprintf(`[...document.querySelectorAll("input")].some((input) => input.value === %q)`, key))
	b.do(t, chromedp.Evaluate[chromedp.Void](`sessionStorage.removeItem("gifting-key")`))
	b.visit(t, site, http.StatusOK)
}

func TestTheDocumentationIsFastOnASlowNetwork(t *testing.T) {
	const maxPage, maxReference = 1000, 2500
	p := startPlatform(t)
	site := p.Env["GIFTING_URL"] + "/docs"
	require.Equal(t, http.StatusOK, harness.Visit(t, site).Status, "the gateway makes the pages when the first is read")
	for _, screen := range screens {
		b := openBrowser(t, screen)
		b.slowDown(t)
		_, err := chromedp.Call(b.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		require.NoError(t, err)
		for path, limit := range map[string]float64{
			"": maxPage, "/quickstart": maxPage, "/webhooks": maxPage, "/errors/out_of_stock": maxPage, "/reference": maxReference,
		} {
			t.Run(screen.name+" "+path, func(t *testing.T) {
				// The machine may be busy, so the best of three counts.
				fastest, fastestParsed := math.Inf(1), math.Inf(1)
				for range 3 {
					b.visit(t, site+path, http.StatusOK)
					m := b.measure(t)
					parsed := get(t, b, chromedp.Evaluate[float64](`performance.getEntriesByType("navigation")[0].domInteractive`))
					t.Logf("all parsed after %.0f ms", parsed)
					require.Less(t, m.CLS, 0.02, "%s", m.Moved)
					fastest, fastestParsed = min(fastest, m.LCP), min(fastestParsed, parsed)
				}
				require.LessOrEqual(t, fastest, limit)
				require.LessOrEqual(t, fastestParsed, float64(maxReference), "until the last operation can be read")
			})
		}
	}
}

// testReference sends a POST from the page, as a reader does: it has a key of its own, and is not forced to fail. That key has
// no webhook.
func (b *browser) testReference(t *testing.T, site, scheme, key string) {
	b.visit(t, site+"/reference/try#tag/webhooks/POST/webhooks:test", http.StatusOK)
	const button = `[...document.querySelectorAll(".show-api-client-button")].find((b) => b.innerText.includes("post /webhooks:test"))`
	b.await(t, button+" !== undefined")
	b.awaitText(t, "Send a test event")
	b.await(t, `document.getAnimations().length === 0`) // The page fades to the colours of its scheme.
	b.inspect(t, "3-try-"+scheme)
	b.do(t, chromedp.Evaluate[chromedp.Void](button+".click()"))
	const token = `[role="dialog"] input[placeholder="Token"]`
	b.await(t, `document.querySelector('`+token+`') !== null`)
	b.do(t, chromedp.SendKeys(chromedp.CSS(token), key))
	b.do(t, chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('[role="dialog"] button')]
		.find((b) => b.innerText.startsWith("Send Request")).click()`))
	b.awaitText(t, "The key has no webhook URL")
	b.screenshot(t, "4-request-"+scheme)
}
