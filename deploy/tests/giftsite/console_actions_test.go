//go:build browser

package giftsite_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// The buttons above the lists.
const (
	sampleOrder = ".start button:nth-of-type(1)"
	sampleLink  = ".start button:nth-of-type(2)"
	byThemself  = ".start input[type=checkbox]"
)

// testActions presses every button of the console.
func (p *platform) testActions(t *testing.T, b *browser) {
	root := strings.TrimSuffix(p.Env["GIFTING_URL"], "/api/public/v1")
	b.visit(t, root+"/sandbox", http.StatusOK)
	b.await(t, `document.querySelector("#key") !== null`)
	b.enterKey(t, p.Env["GIFTING_KEY_APPROVAL"])
	b.awaitText(t, "requests left")
	t.Run("what needs an approval gets it", func(t *testing.T) {
		b.make(t, sampleOrder)
		b.act(t, "orders", "Approve", "PROCESSING")
		b.make(t, sampleLink)
		b.act(t, "links", "Approve", "ACTIVE")
	})
	b.do(t, chromedp.Click(chromedp.CSS("header nav button")))
	b.awaitText(t, "API key of the sandbox")

	b.enterKey(t, p.Env["GIFTING_KEY"])
	b.awaitText(t, "requests left")
	t.Run("an order is sent, corrected and delivered", func(t *testing.T) { b.testOrderActions(t) })
	t.Run("a link is claimed, another one cancelled", func(t *testing.T) {
		b.make(t, sampleLink)
		b.act(t, "links", "Claim", "CLAIMED")
		b.make(t, sampleLink)
		b.act(t, "links", "Cancel", "CANCELLED")
	})
	t.Run("an order and a link go on by themselves", func(t *testing.T) {
		b.do(t, chromedp.Click(chromedp.CSS(byThemself)))
		b.make(t, sampleOrder)
		b.awaitStatus(t, "orders", "COMPLETED")
		b.make(t, sampleLink) // Its order comes before the other one.
		b.awaitStatus(t, "links", "CLAIMED")
		b.do(t, chromedp.Click(chromedp.CSS(byThemself)))
	})
	t.Run("a delivery is sent again", func(t *testing.T) { p.testResend(t, b) })
	t.Run("the webhook is tested", func(t *testing.T) {
		b.tab(t, "deliveries")
		b.choose(t, "section[aria-labelledby=deliveries] > .acts button")
		b.awaitText(t, "Test the webhook: the receiver answered 204.")
	})
	t.Run("a list is searched and filtered", func(t *testing.T) { b.testFilters(t) })
	t.Run("a link has its label, a QR code and a copy of its URL", func(t *testing.T) { b.testLinkTools(t) })
	t.Run("the stock that was set is shown at once", func(t *testing.T) { b.testStock(t) })
	b.inspect(t, "5-actions")
	t.Run("a key that is forgotten ends its calls without a notice", func(t *testing.T) { b.testForget(t) })
	t.Run("deliveries are read during a steady stream of events", func(t *testing.T) { b.testStream(t, p.Env["GIFTING_KEY"]) })
	t.Run("a list says that it is read", func(t *testing.T) { b.testReading(t, p.Env["GIFTING_KEY"]) })
	t.Run("a list says which scope it needs", func(t *testing.T) { b.testMissingScope(t, p.Env["GIFTING_KEY_CATALOG"]) })
	b.requireNoErrors(t)
	t.Run("an answer is forced, and the request repeated", func(t *testing.T) { b.testForced(t, p.Env["GIFTING_KEY"]) })
	b.requireNoLeak(t, root)
}

// tab shows a list on a phone. Larger screens show all.
func (b *browser) tab(t *testing.T, list string) {
	t.Helper()
	if b.screen.name == "phone" {
		b.do(t, chromedp.Click(chromedp.CSS(fmt.Sprintf(".tabs button[data-tab=%s]", list))))
	}
}

// make presses a button above the lists and waits until the record of the answer comes first in its list.
func (b *browser) make(t *testing.T, button string) {
	t.Helper()
	const answer = `(document.querySelector("aside pre[aria-label=Answer]")?.textContent ?? "{}")`
	before := b.value(t, answer)
	b.choose(t, button)
	b.await(t, fmt.Sprintf(`(() => {
		const text = %s, answer = JSON.parse(text), link = answer.results?.[0].link;
		const list = "section[aria-labelledby=" + (link ? "links" : "orders") + "]";
		const first = document.querySelector(list + " li:first-child button")?.ariaLabel;
		return text !== %q && (first ?? "").endsWith(link ? link.id.slice(-12) : answer.reference);
	})()`, answer, before))
}

// act presses a button of the newest record of a list and waits for the status.
func (b *browser) act(t *testing.T, list, label, status string) {
	t.Helper()
	b.tab(t, list)
	b.choose(t, fmt.Sprintf(`section[aria-labelledby=%s] li:first-child button[aria-label^=%q]`, list, label))
	b.awaitText(t, label+": done.")
	b.awaitStatus(t, list, status)
}

func (b *browser) awaitStatus(t *testing.T, list, status string) {
	t.Helper()
	b.await(t, fmt.Sprintf(`document.querySelector("section[aria-labelledby=%s] li .status").textContent === %q`, list, status))
}

func (b *browser) testOrderActions(t *testing.T) {
	b.make(t, sampleOrder)
	b.act(t, "orders", "Dispatch", "SENT")
	b.act(t, "orders", "Correct tracking", "SENT")
	b.act(t, "orders", "Deliver", "COMPLETED")
	const more = "section[aria-labelledby=orders] li:first-child details"
	b.do(t, chromedp.Click(chromedp.CSS(more+" summary")))
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("`+more+` select").value = "SENT"; undefined`))
	b.choose(t, more+" form:nth-of-type(1) button")
	b.awaitText(t, "Correct status: done.")
	b.awaitStatus(t, "orders", "SENT")
	b.do(t, chromedp.SendKeys(chromedp.CSS(more+" input[name=body]"), "It is on its way.\r"))
	b.awaitText(t, "Post message: done.")
	b.await(t, `document.querySelector("section[aria-labelledby=events] li summary").textContent.includes("order.message_posted")`)
	b.make(t, sampleOrder)
	b.act(t, "orders", "Cancel", "CANCELLED")
}

func (p *platform) testResend(t *testing.T, b *browser) {
	const first = `section[aria-labelledby=deliveries] li:first-child`
	order := p.Post(t, p.Env[otherKey], "/orders", p.order("A ball")).OK(t)
	b.tab(t, "orders")
	b.awaitText(t, order["reference"].(string))
	b.tab(t, "deliveries")
	delivered := func(attempts int) string {
		return fmt.Sprintf(`[...document.querySelectorAll(%q)].some((li) => li.textContent.includes("order.created") &&
			li.querySelector(".status").textContent === "DELIVERED" &&
			li.querySelectorAll(".head ~ p time").length === %d)`, first, attempts)
	}
	b.await(t, delivered(1))
	b.choose(t, first+" button")
	b.awaitText(t, "Resend: done.")
	b.await(t, delivered(2))
}

func (b *browser) testStock(t *testing.T) {
	const stock = "section[aria-labelledby=stock]"
	left := func(number string) string {
		return fmt.Sprintf(`document.querySelector("%[1]s .hint")?.textContent === "%[2]s left" &&
			document.querySelector("%[1]s input").value === %[2]q`, stock, number)
	}
	b.tab(t, "stock")
	b.choose(t, stock+" .acts button")
	b.await(t, `document.querySelector("`+stock+` input") !== null`)
	for _, number := range []string{"7", "0", "12"} {
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("`+stock+` input").value = "`+number+`"; undefined`))
		b.choose(t, stock+" form button")
		b.await(t, left(number))
	}
	b.choose(t, stock+" .acts button")
	b.awaitText(t, "12 left")
	b.await(t, left("12"))
}

// set gives an input a value, as typing or choosing does.
func (b *browser) set(t *testing.T, selector, text string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const input = document.querySelector(%q);
		input.value = %q;
		input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
	})()`, selector, text)))
}

func (b *browser) testFilters(t *testing.T) {
	const orders = "section[aria-labelledby=orders]"
	b.tab(t, "orders")
	found := func(count string) string {
		return fmt.Sprintf(`document.querySelectorAll("%s li").length === %s`, orders, count)
	}
	all := b.value(t, fmt.Sprintf(`String(document.querySelectorAll("%s li").length)`, orders))
	reference := b.text(t, orders+" li:first-child strong")
	b.set(t, orders+" input[type=search]", strings.ToLower(reference))
	b.await(t, found("1"))
	b.await(t, fmt.Sprintf(`document.querySelector("%s .count").textContent === "1 of %s"`, orders, all))
	b.set(t, orders+" input[type=search]", "nowhere")
	b.awaitText(t, "Nothing found among the newest.")
	b.set(t, orders+" input[type=search]", "")
	b.set(t, orders+" .filter select", "CANCELLED")
	b.await(t, fmt.Sprintf(`[...document.querySelectorAll("%s li .status")].every((s) => s.textContent === "CANCELLED")`, orders))
	b.inspect(t, "6-filter")
	b.set(t, orders+" .filter select", "")
	b.await(t, found(all))
}

// The path of the QR code of an address, as another program has read it.
const (
	codedAddress = "https://sandbox.example.com/c/AxK3v0Zt9Qw1Lr5Yb7Hn2Mc4P"
	codeDigest   = "345f8c47bff3d087b333915221bda041905b6f34aa8d0a7b0a3f8f96aa8bf893"
)

// openRequest shows the last request on a phone.
const openRequest = `document.querySelector("aside details").open = true; undefined`

func (b *browser) testLinkTools(t *testing.T) {
	const first = "section[aria-labelledby=links] li:first-child"
	b.set(t, ".start .label", "Astrid")
	b.make(t, sampleLink)
	require.Equal(t, "Astrid", b.text(t, first+" .head strong"))
	b.do(t, chromedp.Evaluate[chromedp.Void]("navigator.clipboard.writeText = async (text) => { window.copied = text; }; undefined"))
	b.choose(t, first+` button[aria-label^="Copy the claim URL"]`)
	b.awaitText(t, "Copied: the claim URL of link")
	require.Equal(t, b.value(t, fmt.Sprintf(`document.querySelector("%s a").href`, first)), b.value(t, "window.copied"))
	b.choose(t, first+` button[aria-label^="QR code"]`)
	b.await(t, fmt.Sprintf(`document.querySelector("%s svg.code path")?.getAttribute("d").startsWith("M0 0h1v1h-1z") === true`, first))
	b.inspect(t, "7-code")
	path := get(t, b, chromedp.Evaluate[string](fmt.Sprintf(`import("/sandbox/qr.js").then(({ qr }) => qr(%q).path)`, codedAddress),
		chromedp.EvalAwaitPromise))
	require.Equal(t, codeDigest, fmt.Sprintf("%x", sha256.Sum256([]byte(path))))
	b.choose(t, first+` button[aria-label^="QR code"]`)
	b.await(t, `document.querySelector("svg.code") === null`)
	b.do(t, chromedp.Evaluate[chromedp.Void](openRequest))
	b.choose(t, `aside button[aria-label="Copy the request as curl"]`)
	b.await(t, `window.copied.startsWith("curl -X POST") && !window.copied.includes("gft_sbx_")`)
	b.do(t, chromedp.Evaluate[chromedp.Void]("location.reload(); undefined"))
	b.await(t, `window.copied === undefined`)
	b.awaitText(t, "requests left")
	b.tab(t, "links")
	b.awaitText(t, "Astrid")
}

// testReading holds the answer to the first read of the orders, which the feed may have too.
func (b *browser) testReading(t *testing.T, key string) {
	b.do(t, chromedp.Evaluate[chromedp.Void](`(() => {
		window.fetch = (url, init) => url.includes("/events?") ? new Promise(() => {}) : !url.includes("/orders?") ? real(url, init) :
			new Promise((done) => { window.answer = () => done(real(url, init)); });
	})()`))
	b.enterKey(t, key)
	const text = `document.querySelector("section[aria-labelledby=orders] > .hint")?.textContent`
	b.await(t, text+` === "Reading…"`)
	b.do(t, chromedp.Evaluate[chromedp.Void]("window.answer(); window.fetch = window.real; undefined"))
	b.await(t, `document.querySelectorAll("section[aria-labelledby=orders] li").length > 0`)
	b.do(t, chromedp.Click(chromedp.CSS("header nav button")))
	b.await(t, `document.querySelector("#key") !== null`)
}

func (b *browser) testMissingScope(t *testing.T, key string) {
	b.enterKey(t, key)
	b.awaitText(t, "The key lacks the scope ORDERS.")
	b.do(t, chromedp.Click(chromedp.CSS("header nav button")))
	b.await(t, `document.querySelector("#key") !== null`)
}

// testForced does as the guide says: after a lost answer, the same request again gets it.
func (b *browser) testForced(t *testing.T, key string) {
	b.enterKey(t, key)
	b.awaitText(t, "requests left")
	force := func(fault, status string) {
		b.tab(t, "faults")
		b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
			`[...document.querySelectorAll("section[aria-labelledby=faults] button")].find((b) => b.textContent === %q).focus()`, fault)),
			chromedp.KeyEvent("\r"))
		b.await(t, fmt.Sprintf(`document.querySelector("aside summary strong")?.textContent === %q &&
			document.querySelector("aside pre").textContent.includes("Sandbox-Fault: %s")`, status, fault))
		b.do(t, chromedp.Evaluate[chromedp.Void](openRequest))
		b.choose(t, "aside .acts button")
		b.awaitText(t, "Repeat: done.")
	}
	const replayed = `document.querySelector("aside").textContent.includes("Idempotent-Replayed: true") === `
	force("503", "503")
	b.await(t, replayed+"false")
	force("lost", "no answer")
	b.await(t, replayed+"true")
	b.inspect(t, "8-forced")
}

// testForget forgets the key while a call has no answer.
func (b *browser) testForget(t *testing.T) {
	b.do(t, chromedp.Evaluate[chromedp.Void](`(() => {
		window.real = window.fetch;
		window.fetch = (url, init) => init.method !== "POST" ? real(url, init) :
			new Promise((_, fail) => init.signal.addEventListener("abort", () => { window.aborted = true; fail(init.signal.reason); }));
	})()`))
	b.choose(t, sampleOrder)
	b.await(t, `document.querySelector("aside summary")?.textContent.trim().endsWith("…") === true`)
	b.do(t, chromedp.Click(chromedp.CSS("header nav button")))
	b.await(t, `window.aborted === true && document.querySelector("#key") !== null`)
	// What the abort causes has happened after the next task.
	noticed := get(t, b, chromedp.Evaluate[string](
		`new Promise((done) => setTimeout(() => done(document.querySelector("[role=status]").textContent), 100))`,
		chromedp.EvalAwaitPromise))
	require.Empty(t, noticed)
	b.do(t, chromedp.Evaluate[chromedp.Void]("window.fetch = window.real; undefined"))
}

// testStream answers each call of the feed with an event soon.
func (b *browser) testStream(t *testing.T, key string) {
	b.do(t, chromedp.Evaluate[chromedp.Void](`(() => {
		window.reads = 0;
		window.fetch = async (url, init) => {
			if (url.includes("/webhooks/deliveries")) window.reads++;
			if (!url.includes("/events?")) return real(url, init);
			await new Promise((done) => setTimeout(done, 200));
			const event = { id: crypto.randomUUID(), type: "order.updated", occurredAt: new Date().toISOString(), data: {} };
			return new Response(JSON.stringify({ items: [event], nextCursor: "x" }));
		};
	})()`))
	b.enterKey(t, key)
	b.await(t, "window.reads > 0")
	b.do(t, chromedp.Click(chromedp.CSS("header nav button")))
	b.await(t, `document.querySelector("#key") !== null`)
}
