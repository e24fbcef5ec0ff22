//go:build browser

package giftsite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Variables set by `make browser`.
const (
	axeVariable         = "GIFTING_AXE"
	screenshotsVariable = "GIFTING_SCREENSHOTS"
)

// screen is the size of a window in CSS pixels.
type screen struct {
	name          string
	width, height int64
	options       []chromedp.EmulateViewportOption
}

var screens = []screen{
	{"phone", 390, 844, []chromedp.EmulateViewportOption{chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait}},
	{"desktop", 1280, 900, nil},
}

// browser is a Chromium with an empty profile.
type browser struct {
	ctx    context.Context // chromedp stores the browser in it.
	screen screen
	axe    string
	// player is the name that its player enters.
	player string
	// folder is where its screenshots go. Without pictures it takes none.
	folder          string
	withoutPictures bool

	mu       sync.Mutex
	requests []*network.Request
	// messages are what the browser has logged about the page, and errors what the page has logged or thrown.
	messages, errors []string
}

func openBrowser(t *testing.T, s screen) *browser {
	t.Helper()
	axe, err := os.ReadFile(os.Getenv(axeVariable))
	require.NoError(t, err, "run the tests with `make browser`")
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("headless", "new"), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, stopTab := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // The browser may have ended with the test.
		stopTab()
		stop()
	})
	b := &browser{ctx: ctx, screen: s, axe: string(axe), player: "Astrid Lindqvist", folder: "giftsite"}
	b.prepare(t)
	return b
}

// prepare sets up the tab.
func (b *browser) prepare(t *testing.T) {
	t.Helper()
	require.NoError(t, chromedp.Listen(b.ctx, b.record))
	for _, domain := range []cdp.Command[cdp.Empty, cdp.Empty]{log.Enable, runtime.Enable} {
		_, err := chromedp.Call(b.ctx, domain, cdp.Empty{})
		require.NoError(t, err)
	}
	b.do(t, chromedp.EmulateViewport(b.screen.width, b.screen.height, b.screen.options...))
	b.media(t, "prefers-color-scheme", "light")
}

// awaitPaint waits until the page was painted, as a picture of it needs. Before that Chromium drops clicks and keys.
func (b *browser) awaitPaint(t *testing.T) {
	t.Helper()
	get(t, b, chromedp.CaptureScreenshot())
}

func (b *browser) record(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request)
	case *log.EventEntryAdded:
		b.messages = append(b.messages, string(e.Entry.Source)+": "+e.Entry.Text)
		if e.Entry.Level == log.EntryLevelError {
			b.errors = append(b.errors, e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.errors = append(b.errors, string(e.Type))
	}
}

const patience = 30 * time.Second

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(t, chromedp.Do(ctx, actions...))
}

// get runs the action and returns its value.
func get[T any](t *testing.T, b *browser, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(t, err)
	return value
}

// visit opens the address and requires the status.
func (b *browser) visit(t *testing.T, address string, status int64) {
	t.Helper()
	require.Equal(t, status, get(t, b, chromedp.NavigateResponse(address)).Status)
}

// click clicks the element and waits for nothing. One of the mouse that sends a form is only acknowledged when the response
// arrives.
func (b *browser) click(t *testing.T, selector string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("setTimeout(() => document.querySelector(%q).click()); undefined", selector)))
}

// press presses the button and waits for the next page.
func (b *browser) press(t *testing.T, selector string) {
	t.Helper()
	b.awaitPaint(t)
	b.navigate(t, chromedp.Click(chromedp.CSS(selector)))
}

// shown differs for every page that is loaded.
const shown = "performance.timeOrigin + location.href"

// navigate waits until the action has led to another page, which may be one that the browser has kept.
func (b *browser) navigate(t *testing.T, action chromedp.Action[chromedp.Void]) {
	t.Helper()
	before := b.value(t, shown)
	b.do(t, action)
	b.await(t, fmt.Sprintf(`%s !== %q && document.readyState === "complete"`, shown, before))
}

func (b *browser) value(t *testing.T, script string) string {
	t.Helper()
	return get(t, b, chromedp.Evaluate[string](script))
}

func (b *browser) text(t *testing.T, selector string) string {
	t.Helper()
	return get(t, b, chromedp.Text(chromedp.CSS(selector)))
}

// finding is a rule of axe that a page violates.
type finding struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML string `json:"html"`
	} `json:"nodes"`
}

// inspect requires that the page is accessible and not wider than the screen, and takes a screenshot of all of it.
func (b *browser) inspect(t *testing.T, name string) {
	t.Helper()
	b.requireAccessible(t)
	wide := get(t, b, chromedp.Evaluate[[]string](fmt.Sprintf(`document.documentElement.scrollWidth <= %d ? [] : [
		document.documentElement.scrollWidth,
		...[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %[1]d)
			.map((e) => e.outerHTML.slice(0, 99)),
	].map(String)`, b.screen.width)))
	require.Empty(t, wide, "the page is wider than the screen")
	b.screenshot(t, name) // Last, because pages that draw themselves draw more in its high window.
}

// inspectSchemes inspects the page as light and as dark devices show it. Colours do not depend on the words, so a browser without
// pictures inspects the light one only.
func (b *browser) inspectSchemes(t *testing.T, name string) {
	t.Helper()
	b.inspect(t, name)
	if b.withoutPictures {
		return
	}
	b.media(t, "prefers-color-scheme", "dark")
	b.inspect(t, name+"-dark")
	b.media(t, "prefers-color-scheme", "light")
}

// media emulates a feature of a device without animations, until the next call.
func (b *browser) media(t *testing.T, feature, value string) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: feature, Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	require.NoError(t, err)
}

func (b *browser) screenshot(t *testing.T, name string) {
	t.Helper()
	if b.withoutPictures {
		return
	}
	// The window becomes as high as the page, so that everything is drawn as a player sees it who scrolls. What has a part of its
	// height keeps the size that it has on the screen.
	b.setCrest(t, "getComputedStyle(crest).height")
	height := get(t, b, chromedp.Evaluate[int64]("Math.max(innerHeight, document.documentElement.scrollHeight)"))
	b.do(t, chromedp.EmulateViewport(b.screen.width, height, b.screen.options...))
	b.await(t, "[...document.images].every((image) => image.complete || !image.checkVisibility())")
	png := get(t, b, chromedp.CaptureScreenshot())
	b.do(t, chromedp.EmulateViewport(b.screen.width, b.screen.height, b.screen.options...))
	b.setCrest(t, `""`)
	b.save(t, name+"-"+b.screen.name+".png", png)
}

// setCrest sets the height of the paper or the picture at the head of the page, if there is one; empty: that of the style sheet.
func (b *browser) setCrest(t *testing.T, height string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](`for (const crest of document.querySelectorAll(".wrapping"))
		document.documentElement.style.setProperty("--crest", `+height+`); undefined`))
}

// firstScreen takes a screenshot of what a player sees without scrolling.
func (b *browser) firstScreen(t *testing.T, name string) {
	t.Helper()
	b.save(t, name+"-"+b.screen.name+".png", get(t, b, chromedp.CaptureScreenshot()))
}

// save writes a file to the folder of the browser's screenshots.
func (b *browser) save(t *testing.T, name string, content []byte) {
	t.Helper()
	dir := os.Getenv(screenshotsVariable)
	require.NotEmpty(t, dir, "run the tests with `make browser`")
	dir = filepath.Join(dir, b.folder)
	require.NoError(t, os.MkdirAll(dir, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
}

func (b *browser) requireAccessible(t *testing.T) {
	t.Helper()
	const run = `;axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations))`
	raw := get(t, b, chromedp.Evaluate[string](b.axe+run, chromedp.EvalAwaitPromise))
	var found []finding
	require.NoError(t, json.Unmarshal([]byte(raw), &found))
	for _, f := range found {
		t.Logf("axe: %s (%s): %s: %v", f.ID, f.Impact, f.Help, f.Nodes)
	}
	require.Empty(t, found)
}

// requireNoErrors checks that the page has logged and thrown nothing.
func (b *browser) requireNoErrors(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.errors)
}

// requireNoLeak checks that the browser sent requests only to the site, and no page's address to other sites.
func (b *browser) requireNoLeak(t *testing.T, base string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.NotEmpty(t, b.requests)
	for _, r := range b.requests {
		if !strings.HasPrefix(r.URL, "data:") {
			require.True(t, strings.HasPrefix(r.URL, base+"/"), r.URL)
		}
		for name, value := range r.Headers {
			if http.CanonicalHeaderKey(name) == "Referer" {
				require.Empty(t, value, r.URL)
			}
		}
	}
	for _, message := range b.messages {
		require.NotContains(t, message, "Content Security Policy")
	}
}
