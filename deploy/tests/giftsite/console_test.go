//go:build browser

package giftsite_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile is text that would run a script if it became HTML.
const hostile = `<img src=x onerror="document.title='ran'">`

func TestTheConsole(t *testing.T) {
	p := startPlatform(t)
	for _, screen := range screens {
		t.Run(screen.name+" actions", func(t *testing.T) {
			b := openBrowser(t, screen)
			b.folder = "console"
			p.testActions(t, b)
		})
		for _, scheme := range []string{"light", "dark"} {
			t.Run(screen.name+" "+scheme, func(t *testing.T) {
				b := openBrowser(t, screen)
				b.folder = "console"
				b.media(t, "prefers-color-scheme", scheme)
				p.testConsole(t, b, scheme)
			})
		}
	}
}

// await waits until the expression is true on the page, or on one that follows.
func (b *browser) await(t *testing.T, expression string) {
	t.Helper()
	holds := func() bool { // Between two pages there is none to ask, and one that was left may never answer.
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		defer cancel()
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		return err == nil && is
	}
	if !assert.Eventually(t, holds, 20*time.Second, 50*time.Millisecond, expression) {
		t.Fatal(b.value(t, "document.body.innerText"))
	}
}

func (b *browser) awaitText(t *testing.T, text string) {
	t.Helper()
	b.await(t, "document.body.innerText.includes("+strconv.Quote(text)+")")
}

// choose presses the button with the keyboard.
func (b *browser) choose(t *testing.T, selector string) {
	t.Helper()
	b.do(t, chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent("\r"))
}

func (b *browser) enterKey(t *testing.T, key string) {
	t.Helper()
	b.do(t, chromedp.SendKeys(chromedp.CSS("#key"), key+"\r"))
}

func (p *platform) testConsole(t *testing.T, b *browser, scheme string) {
	root := strings.TrimSuffix(p.Env["GIFTING_URL"], "/api/public/v1")
	b.visit(t, root+"/sandbox", http.StatusOK)
	b.await(t, `document.querySelector("#key") !== null`)
	b.inspect(t, "1-key-"+scheme)
	b.enterKey(t, "gft_sbx_wrong")
	b.awaitText(t, "The API key is missing, unknown, revoked")

	key := p.Env["GIFTING_KEY"]
	b.enterKey(t, key)
	b.awaitText(t, "requests left")
	b.choose(t, sampleOrder)
	b.awaitText(t, "Sample order: done.")
	b.choose(t, sampleLink)
	b.awaitText(t, "Sample link: done.")

	t.Run("an order of another key arrives by itself, as text", func(t *testing.T) {
		order := p.Post(t, p.Env[otherKey], "/orders", p.order(hostile)).OK(t)
		reference := order["reference"].(string)
		b.tab(t, "orders")
		b.awaitText(t, reference)
		b.await(t, `document.querySelectorAll("section[aria-labelledby=deliveries] li").length > 0`)
		require.Contains(t, b.text(t, `section[aria-labelledby="orders"] li`), hostile)
		require.Equal(t, "0", b.value(t, "String(document.images.length)"))
		require.Equal(t, "Sandbox console", b.value(t, "document.title"))
	})
	b.inspect(t, "2-records-"+scheme)
	t.Run("the API reference is one click away", func(t *testing.T) {
		link := b.value(t, `document.querySelector("header nav a").href`)
		require.True(t, strings.HasSuffix(link, "/docs/reference"), link)
		b.await(t, fmt.Sprintf(`fetch(%q).then((r) => { window.reference = r.ok; }), window.reference === true`, link))
	})

	t.Run("a request is shown as curl without the key", func(t *testing.T) {
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("aside details").open = true`))
		require.Contains(t, b.value(t, `document.querySelector("aside").textContent`), "$GIFTING_KEY")
		b.inspect(t, "3-request-"+scheme)
	})
	t.Run("the key is in the tab only", func(t *testing.T) {
		require.NotContains(t, b.value(t, "document.documentElement.outerHTML"), key)
		require.Equal(t, "0 ", b.value(t, `localStorage.length + " " + document.cookie`))
		require.Equal(t, root+"/sandbox", b.value(t, "location.href"))
		b.do(t, chromedp.Click(chromedp.CSS("header nav button")))
		b.awaitText(t, "API key of the sandbox")
		require.Equal(t, "0", b.value(t, "String(sessionStorage.length)"))
	})
	b.requireNoLeak(t, root)
}

// order is an order of a custom gift.
func (p *platform) order(gift string) string {
	return fmt.Sprintf(`{"externalOrderId": %q, "brandId": %q,
		"items": [{"customProductName": %q, "budget": {"amount": "150", "currency": "SEK"}}],
		"client": {"name": "Ann Berg"}, "recipient": {"name": "Ann Berg", "phone": "+46 70 123 45 67",
		"address": {"street": "Storgatan 1", "city": "Stockholm", "postalCode": "111 22", "country": "SE"}}}`,
		rand.Text(), p.Env["GIFTING_BRAND_ID"], gift)
}
