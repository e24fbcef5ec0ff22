//go:build browser

package giftsite_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// measured is what the browser measured of a page.
type measured struct {
	// LCP is when the largest picture or text was drawn, in milliseconds; Element is its class. CLS is how much moved.
	LCP     float64 `json:"lcp"`
	Element string  `json:"element"`
	CLS     float64 `json:"cls"`
	// Moved is what moved, from where to where.
	Moved []string
	// Bytes were transferred, by kind.
	Page, Fonts, Pictures float64
}

const measure = `new Promise((done) => {
	const page = performance.getEntriesByType("navigation")[0].transferSize;
	const result = { lcp: 0, element: "", cls: 0, moved: [], page, fonts: 0, pictures: 0 };
	for (const r of performance.getEntriesByType("resource")) {
		if (r.name.startsWith("data:")) continue;
		const kind = r.name.endsWith(".woff2") ? "fonts" : r.name.includes("/catalog/images/") ? "pictures" : "page";
		result[kind] += r.transferSize;
	}
	new PerformanceObserver((list) => {
		for (const e of list.getEntries()) {
			if (e.hadRecentInput) continue;
			result.cls += e.value;
			for (const s of e.sources) result.moved.push([
				Math.round(e.startTime), s.node?.nodeName, s.node?.className, s.node?.textContent.trim().slice(0, 40),
				JSON.stringify([s.previousRect, s.currentRect]),
			].join(" "));
		}
	}).observe({ type: "layout-shift", buffered: true });
	new PerformanceObserver((list) => {
		for (const e of list.getEntries()) { result.lcp = e.startTime; result.element = e.element?.className || e.element?.tagName; }
		setTimeout(() => done(result), 100);
	}).observe({ type: "largest-contentful-paint", buffered: true });
})`

// maxLCP is the limit of the first picture or text on a slow network, in milliseconds.
const maxLCP = 1500

// slowDown emulates a slow 4G as Lighthouse does: 150 ms, 1.6 Mbit/s down and 750 kbit/s up.
func (b *browser) slowDown(t *testing.T) {
	t.Helper()
	b.network(t, network.Conditions{Latency: 150, DownloadThroughput: 1_600_000 / 8, UploadThroughput: 750_000 / 8})
}

// measure measures the page when it is complete.
func (b *browser) measure(t *testing.T) measured {
	t.Helper()
	b.await(t, `document.readyState === "complete"`)
	m := get(t, b, chromedp.Evaluate[measured](measure, chromedp.EvalAwaitPromise))
	t.Logf("LCP %.0f ms (%s), CLS %.4f, page %.0f, fonts %.0f, pictures %.0f bytes",
		m.LCP, m.Element, m.CLS, m.Page, m.Fonts, m.Pictures)
	require.Positive(t, m.LCP)
	return m
}

// The catalog makes renditions as those here.
func TestTheFirstPageIsFastOnASlowNetwork(t *testing.T) {
	const maxPage = 32 << 10
	for name, prepare := range map[string]func(f *fixture) *linksv1.GetClaimPageResponse{
		"greeting": func(f *fixture) *linksv1.GetClaimPageResponse { return f.withLook(f.openPage("en-US", "#1B4B8F")) },
		"gifts": func(f *fixture) *linksv1.GetClaimPageResponse {
			link := f.withLook(f.openPage("en-US", "#1B4B8F"))
			link.Message, link.Greeting, link.Brand.Hero = nil, nil, nil
			return link
		},
		"one gift": func(f *fixture) *linksv1.GetClaimPageResponse {
			link := f.openPage("en-US", "#1B4B8F")
			link.Message, link.Gifts = nil, link.GetGifts()[1:2]
			return link
		},
	} {
		for _, screen := range screens {
			t.Run(fmt.Sprintf("%s on a %s", name, screen.name), func(t *testing.T) {
				f, b := newFixture(t), openBrowser(t, screen)
				f.reset(prepare(f))
				b.slowDown(t)
				b.visit(t, f.base+"/c/"+token, 200)
				m := b.measure(t)
				require.LessOrEqual(t, m.LCP, float64(maxLCP))
				require.Zero(t, m.CLS, "%s", m.Moved)
				require.LessOrEqual(t, m.Page+m.Fonts, float64(maxPage))
			})
		}
	}
}

func TestNothingMovesWhenTheLogoArrivesLast(t *testing.T) {
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			f, b := newFixture(t), openBrowser(t, screen)
			f.logoDelay = 500 * time.Millisecond
			f.reset(f.openPage("en-US", "#1B4B8F"))
			b.visit(t, f.base+"/c/"+token, 200)
			b.await(t, `document.querySelector(".logo").naturalWidth > 0`)
			require.Zero(t, b.measure(t).CLS)
		})
	}
}

// The pages after the first one are what a player sees of a form that was sent.
func TestEveryPageIsFastOnASlowNetwork(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		b.slowDown(t)
		b.eachPage(t, f, locale, func(name string) {
			m := b.measure(t)
			require.LessOrEqual(t, m.LCP, float64(maxLCP), name)
			require.Zero(t, m.CLS, "%s: %s", name, m.Moved)
		})
	})
}
