//go:build browser

package giftsite_test

import (
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
	t.Run("the stock that was set is shown at once", func(t *testing.T) { b.testStock(t) })
	b.inspect(t, "5-actions")
	t.Run("a key that is forgotten ends its calls without a notice", func(t *testing.T) { b.testForget(t) })
	t.Run("deliveries are read during a steady stream of events", func(t *testing.T) { b.testStream(t, p.Env["GIFTING_KEY"]) })
	b.requireNoErrors(t)
	b.requireNoLeak(t, root)
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
	b.awaitText(t, order["reference"].(string))
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
