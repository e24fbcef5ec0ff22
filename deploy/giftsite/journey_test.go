//go:build browser

package giftsite_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// token is the token of the only link.
const token = "Q2hvb3NlLWEtZ2lmdC10b2"

func onEveryScreen(t *testing.T, test func(t *testing.T, f *fixture, b *browser)) {
	t.Helper()
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) { test(t, newFixture(t), openBrowser(t, screen)) })
	}
}

// fill enters the address.
func (b *browser) fill(t *testing.T, phone string) {
	t.Helper()
	b.do(t,
		chromedp.SetValue(chromedp.CSS("#name"), "Astrid Lindqvist"),
		chromedp.SetValue(chromedp.CSS("#street"), "Storgatan 1"),
		chromedp.SetValue(chromedp.CSS("#postalCode"), "111 22"),
		chromedp.SetValue(chromedp.CSS("#city"), "Stockholm"),
		chromedp.SetValue(chromedp.CSS("#phone"), phone),
		chromedp.SetValue(chromedp.CSS("#country"), "SE"),
	)
}

func TestAPlayerChoosesAGiftAndEntersTheAddress(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		f.show(f.openPage("en-US", "#1B4B8F"))
		b.visit(t, f.base+"/c/"+token, 200)
		b.inspect(t, "1-list")
		b.press(t, `button[value="hooded-sweatshirt"]`)
		b.inspect(t, "2-form")

		b.press(t, ".send")
		b.await(t, `document.activeElement.classList.contains("problems")`) // A page gets its focus when it is drawn.
		b.inspect(t, "3-errors")

		b.do(t, chromedp.Click(chromedp.CSS(`input[value="Colour=Grey&Size=M"]`)))
		b.fill(t, "070 123 45 67")
		b.press(t, ".send")
		require.Contains(t, b.text(t, "#phone-error"), "+44")
		require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`))
		b.inspect(t, "4-phone")

		b.fill(t, "+46 70 123 45 67")
		b.press(t, ".send")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
		b.inspect(t, "5-thanks")

		b.visit(t, f.base+"/c/"+token, 200)
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M", "reloading changes nothing")
		b.requireNoLeak(t, f.base)
	})
}

func TestAPlayerWhoseAnswerWasLostGetsTheReference(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		f.show(f.openPage("en-US", "#1B4B8F"))
		b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
		b.fill(t, "+46701234567")
		f.change(func() { f.answerLost = true })
		b.press(t, ".send")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
	})
}

func TestAGiftThatIsGoneLeadsBackToTheListAndKeepsTheAddress(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		page := f.openPage("sv-SE", "#0FA3B1")
		f.show(page)
		b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
		b.fill(t, "+46701234567")
		f.change(func() {
			f.claimFailure = problem.New(problem.OutOfStock, "gone")
			page.Gifts[0].OutOfStock = true
		})
		b.press(t, ".send")
		require.Contains(t, b.text(t, ".problems"), "Dark truffles")
		b.inspect(t, "6-gone")
		b.press(t, `button[value="scented-candle"]`)
		require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`))
		require.Equal(t, "Sverige", b.value(t, `document.querySelector("#country").selectedOptions[0].text`))
		b.inspect(t, "7-kept")
		b.press(t, ".quiet")
		b.press(t, `button[value="steel-bottle"]`)
		require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`))
	})
}

func TestAGiftCanBeClaimedWithTheKeyboardOnly(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screens[1])
	page := f.openPage("en-US", "#1B4B8F")
	page.Gifts = page.GetGifts()[1:2]
	f.show(page)
	b.visit(t, f.base+"/c/"+token, 200)
	b.do(t, chromedp.KeyEvent("\t"))
	require.Equal(t, "Skip to the content", b.value(t, "document.activeElement.textContent"))
	// Two groups of options, the address, phone, no e-mail, the button.
	for _, key := range []string{
		"\t", " ", "\t", " ", "\tAda Player", "\tStorgatan 1", "\t111 22", "\tStockholm", "\tSwe", "\t+46701234567", "\t", "\t",
	} {
		b.do(t, chromedp.KeyEvent(key))
	}
	require.Equal(t, "Send me this gift", b.value(t, "document.activeElement.textContent"))
	b.inspect(t, "8-focus")
	b.do(t, chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS(".reference")))
}

func TestEveryStateOfALinkHasItsPage(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for name, tc := range map[string]struct {
			page   *linksv1.GetClaimPageResponse
			status int64
		}{
			"claimed": {closedPage(linksv1.ClaimState_CLAIM_STATE_CLAIMED), 200},
			"waiting": {closedPage(linksv1.ClaimState_CLAIM_STATE_WAITING), 200},
			"expired": {closedPage(linksv1.ClaimState_CLAIM_STATE_EXPIRED), 410},
			"unknown": {nil, 404},
		} {
			f.show(tc.page)
			b.visit(t, f.base+"/c/"+token, tc.status)
			b.inspect(t, "9-"+name)
		}
		f.change(func() { f.unavailable = true })
		b.visit(t, f.base+"/c/"+token, 503)
		b.inspect(t, "9-failing")
	})
}

func TestEveryBrandAndLocaleIsReadable(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for name, look := range map[string]struct{ locale, colour string }{
			"gold-german": {"de-DE", "#B8860B"}, "yellow": {"sv-SE", "#FFE14D"}, "white": {"fi-FI", "#FFFFFF"},
			"black": {"en-US", "#000000"}, "none": {"en-US", ""},
		} {
			page := f.openPage(look.locale, look.colour)
			page.Message = nil
			f.show(page)
			b.visit(t, f.base+"/c/"+token, 200)
			b.inspect(t, "10-"+name)
			b.visit(t, f.base+"/c/"+token+"?gift=steel-bottle", 200)
			b.inspect(t, "10-"+name+"-form")
		}
	})
}

func TestTheLongestTextsFitTheSmallestScreen(t *testing.T) {
	f, b := newFixture(t), openBrowser(t, screen{name: "small", width: 320, height: 568, options: screens[0].options})
	page := f.openPage("de-DE", "#7A1F3D")
	page.Label, page.Message = strings.Repeat("W", 255), proto.String(strings.Repeat("Geschenkgutschein", 15))
	page.Brand.Name = strings.Repeat("Spielbank", 20)
	gift := page.GetGifts()[2]
	gift.Name, gift.Description = strings.Repeat("Kapuzenpullover", 10), strings.Repeat("gemütlich", 40)
	gift.Variations[0].Values[0] = strings.Repeat("Übergröße", 8)
	f.show(page)
	b.visit(t, f.base+"/c/"+token, 200)
	b.inspect(t, "14-list")
	b.visit(t, f.base+"/c/"+token+"?gift=hooded-sweatshirt", 200)
	b.inspect(t, "14-form")
	b.press(t, ".send")
	b.inspect(t, "14-errors")
	expired := closedPage(linksv1.ClaimState_CLAIM_STATE_EXPIRED)
	expired.Brand.Name = page.GetBrand().GetName()
	f.show(expired)
	b.visit(t, f.base+"/c/"+token, 410)
	b.inspect(t, "14-expired")
}
