//go:build browser

package giftsite_test

import (
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// open are the values that can be chosen, those of all choices that are seen.
func (b *browser) open(t *testing.T) []string {
	t.Helper()
	return get(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".option input:enabled")]
		.filter((i) => i.checkVisibility()).map((i) => i.value)`))
}

func TestOnlyPairsThatAreLeftCanBeChosen(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		f.reset(f.openPage("en-US", "#1B4B8F"))
		b.visit(t, f.base+"/c/"+token+"?gift=hooded-sweatshirt", 200)
		require.Equal(t, []string{"S", "M", "L", "Navy", "Grey"}, b.open(t))
		b.press(t, ".send")
		require.Equal(t, int64(2), get(t, b, chromedp.Evaluate[int64](`document.querySelectorAll(".choices.wrong").length`)))
		choose := func(value string) {
			b.do(t, chromedp.Evaluate[chromedp.Void]("document.querySelector('input[value=\""+value+"\"]').click()"))
		}
		choose("M")
		require.Equal(t, []string{"S", "M", "L", "Grey"}, b.open(t), "M in Navy is gone")
		b.inspectSchemes(t, "50-pairs")
		choose("Grey")
		errors := get(t, b, chromedp.Evaluate[int](`document.querySelectorAll(".wrong, .problems, .error, [aria-describedby]").length`))
		require.Zero(t, errors, "the errors are over")
		choose("L")
		require.Equal(t, []string{"S", "M", "L", "Navy"}, b.open(t), "another size can be chosen")
		require.Equal(t, "null", b.value(t, `String(document.querySelector("#choice-1 input:checked"))`),
			"and the pair that is gone is not chosen")
		choose("Navy")
		b.press(t, ".send")
		require.Equal(t, int64(1), get(t, b, chromedp.Evaluate[int64](`document.querySelectorAll("#country").length`)))
		b.requireNoErrors(t)
	})
}

func TestWithoutScriptsWholeCombinationsAreChosen(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		f.reset(f.openPage("en-US", "#1B4B8F"))
		b.withoutScripts(t)
		b.visit(t, f.base+"/c/"+token+"?gift=hooded-sweatshirt", 200)
		require.Equal(t, []string{"Colour=Navy&Size=S", "Colour=Grey&Size=S", "Colour=Grey&Size=M", "Colour=Navy&Size=L"}, b.open(t))
		b.press(t, ".send")
		require.NotEmpty(t, b.text(t, "#whole-error"))
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('input[value="Colour=Grey&Size=M"]').click()`))
		b.press(t, ".send")
		require.Equal(t, int64(1), get(t, b, chromedp.Evaluate[int64](`document.querySelectorAll("#country").length`)))
	})
}

// The style sheet puts the picture first, and the gallery shows it, whatever picture was in view.
func TestThePictureOfWhatIsChosenIsInView(t *testing.T) {
	const inView = `(() => {
		const left = document.querySelector(".gallery").getBoundingClientRect().left;
		return [...document.querySelectorAll(".frame img")].filter((i) => Math.abs(i.getBoundingClientRect().left - left) < 2)
			.map((i) => i.src.replace(/.*\//, "")).join();
	})()`
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		page := f.openPage("en-US", "#1B4B8F")
		shirt := page.GetGifts()[2]
		shirt.Choices = nil
		shirt.Images = []*linksv1.ClaimImage{
			{Url: f.base + images + "glass-vase"},
			{Url: f.base + images + "hooded-sweatshirt", Variations: map[string]string{"Colour": "Navy"}},
			{Url: f.base + images + "hooded-sweatshirt-sand", Variations: map[string]string{"Colour": "Grey"}},
		}
		f.reset(page)
		follow := func(picture string) {
			b.await(t, inView+" === "+strconv.Quote(picture))
		}
		for _, scripts := range []bool{true, false} {
			if !scripts {
				b.withoutScripts(t)
			}
			b.visit(t, f.base+"/c/"+token+"?gift=hooded-sweatshirt", 200)
			follow("glass-vase")
			b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('input[value="Grey"]').click()`))
			follow("hooded-sweatshirt-sand")
			b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('input[value="Navy"]').click()`))
			follow("hooded-sweatshirt")
			if scripts {
				b.inspectSchemes(t, "54-picture")
				b.do(t, chromedp.Click(chromedp.CSS(".thumbs li:nth-child(3) a")))
				follow("hooded-sweatshirt-sand")
			}
		}
		b.requireNoErrors(t)
	})
}

func TestACountryThatIsPickedChangesTheForm(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		f.reset(f.openPage("en-US", "#1B4B8F"))
		b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
		b.press(t, ".send")
		b.fill(t, "+46701234567")
		b.pickCountry(t, "DE")
		require.Equal(t, "DE", b.value(t, `document.querySelector("#country").value`))
		require.Equal(t, "country", b.value(t, `document.activeElement.id`), "the list keeps the focus")
		require.Contains(t, b.text(t, "#postalCode-hint"), "26133")
		require.Equal(t, "none", b.value(t, `getComputedStyle(document.querySelector(".with-button .quiet")).display`))
		require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`), "what was typed stays")
		b.inspectSchemes(t, "52-country")
		b.requireNoErrors(t)
	})
}

func TestANumberKeepsItsCountryInTheFormOfAnother(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screens[0])
	f.reset(f.openPage("en-US", "#1B4B8F"))
	b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
	b.press(t, ".send")
	b.fill(t, "70 123 45 67")
	b.do(t, chromedp.Evaluate[chromedp.Void](`{
		const country = document.querySelector("#country");
		country.value = "DE"; country.dispatchEvent(new Event("change"));
		document.querySelector("#phone").focus();
	}; undefined`))
	b.await(t, formFollowed)
	require.Equal(t, "+46 70 123 45 67", b.value(t, `document.activeElement.value`), "also where the player is")
	require.Equal(t, "16", b.value(t, `String(document.activeElement.selectionStart)`), "behind the last digit")
	b.requireNoErrors(t)
}

// network sets how the network is, until the next call.
func (b *browser) network(t *testing.T, is network.Conditions) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&is}})
	require.NoError(t, err)
}

// What the script waits for is over twenty times sooner.
const impatient = `{
	const { setTimeout: wait, AbortSignal: { timeout } } = window;
	window.setTimeout = (act, ms, ...rest) => wait(act, ms / 20, ...rest);
	AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 20);
}`

func TestNothingIsLostWithTheNetwork(t *testing.T) {
	online := network.Conditions{DownloadThroughput: -1, UploadThroughput: -1}
	for name, lost := range map[string]network.Conditions{
		"without a network":        {Offline: true, DownloadThroughput: -1, UploadThroughput: -1},
		"in one that says nothing": {Latency: 1e6, DownloadThroughput: -1, UploadThroughput: -1},
	} {
		t.Run(name, func(t *testing.T) {
			f, b := newFixture(t), openBrowser(t, screens[0])
			_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument,
				page.AddScriptToEvaluateOnNewDocumentParams{Source: impatient})
			require.NoError(t, err)
			f.reset(f.openPage("en-US", "#1B4B8F"))
			b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
			b.press(t, ".send")
			b.fill(t, "+46701234567")
			b.network(t, lost)
			b.pickCountry(t, "DE")
			require.Contains(t, b.text(t, "#postalCode-hint"), "114 55", "of the country before")
			require.Equal(t, "Change the country", b.text(t, ".with-button .quiet"))
			b.inspect(t, "55-no-network")
			b.network(t, online)
			b.press(t, ".with-button .quiet")
			require.Contains(t, b.text(t, "#postalCode-hint"), "26133")
			require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`))

			b.network(t, network.Conditions{Latency: 1e6, DownloadThroughput: -1, UploadThroughput: -1})
			b.do(t, chromedp.Evaluate[chromedp.Void](`setTimeout(() => {
				document.querySelector("button.send").click();
				setTimeout(() => stop(), 2000);
			}); undefined`))
			b.await(t, `document.querySelector("button.send").dataset.words === document.querySelector("button.send").textContent`)
			b.network(t, online)
			b.press(t, "button.send")
			require.Contains(t, b.text(t, ".lines-to"), "Germany")
		})
	}
}

// A number that is pasted or filled in whole has its code, so that before the input is hidden.
func TestTheCodeOfTheCountryIsBeforeTheNumber(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screens[0])
	f.reset(f.openPage("sv-SE", "#1B4B8F"))
	b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
	b.press(t, ".send")
	const seen = `String(document.querySelector("#phone-prefix").checkVisibility())`
	require.Equal(t, "true", b.value(t, seen))
	for text, prefix := range map[string]string{
		"070 123 45 67": "true", "+46 70 123 45 67": "false", "0046701234567": "false", "tel:070-1234567": "true",
	} {
		b.enter(t, "phone", text)
		require.Equal(t, prefix, b.value(t, seen), text)
		const described = `document.querySelector("#phone[aria-describedby~=phone-prefix]") !== null`
		require.Equal(t, prefix, b.value(t, `String(`+described+`)`), "what is not seen is not heard")
		require.Equal(t, "null", b.value(t, `String(document.querySelector("#phone-error"))`), text)
	}
	b.enter(t, "phone", "call me")
	require.NotEmpty(t, b.text(t, "#phone-error"))
	b.inspect(t, "53-phone")
	b.requireNoErrors(t)
}
