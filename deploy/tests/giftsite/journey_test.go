//go:build browser

package giftsite_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

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

// locales are those of everywhere. pictured is the one that it takes pictures of: the others differ only in their words.
var locales = []string{pictured, "de-DE", "sv-SE"}

const pictured = "en-US"

// everywhere runs the test on every screen in every locale.
func everywhere(t *testing.T, test func(t *testing.T, f *fixture, b *browser, locale string)) {
	t.Helper()
	for _, locale := range locales {
		for _, screen := range screens {
			t.Run(screen.name+" "+locale, func(t *testing.T) {
				b := openBrowser(t, screen)
				b.withoutPictures = locale != pictured
				test(t, newFixture(t), b, locale)
			})
		}
	}
}

// pickCountry picks a country, whose form the script then shows, or else the button.
func (b *browser) pickCountry(t *testing.T, code string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const c = document.querySelector("#country");
		c.focus(); c.value = %q; c.dispatchEvent(new Event("change"));
	}; undefined`, code)))
	if !get(t, b, chromedp.Evaluate[bool](`document.querySelector(".unseen[role=status]") !== null`)) { // Without scripts.
		b.navigate(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("button[value=country]").click(); undefined`))
		return
	}
	b.await(t, formFollowed)
}

const formFollowed = `document.querySelector(".unseen[role=status]").textContent !== ""`

// fill enters the address, after the country.
func (b *browser) fill(t *testing.T, phone string) {
	t.Helper()
	if b.value(t, `document.querySelector("#country").value`) != "SE" {
		b.pickCountry(t, "SE")
	}
	b.do(t,
		chromedp.SetValue(chromedp.CSS("#name"), b.player),
		chromedp.SetValue(chromedp.CSS("#street"), "Storgatan 1"),
		chromedp.SetValue(chromedp.CSS("#postalCode"), "111 22"),
		chromedp.SetValue(chromedp.CSS("#city"), "Stockholm"),
		chromedp.SetValue(chromedp.CSS("#phone"), phone),
	)
}

// review goes to the review of a gift without variations.
func (b *browser) review(t *testing.T, f *fixture) {
	t.Helper()
	b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
	b.press(t, ".send")
	b.fill(t, "+46701234567")
	b.press(t, ".send")
	require.Contains(t, b.text(t, "main"), "Storgatan 1")
}

func TestAPlayerChoosesAGiftAndEntersTheAddress(t *testing.T) {
	forEveryCustomer(t, func(t *testing.T, f *fixture, b *browser, page *linksv1.GetClaimPageResponse) {
		f.reset(page)
		b.visit(t, f.base+"/c/"+token, 200)
		b.firstScreen(t, "01-first-screen")
		b.inspectSchemes(t, "01-greeting")
		b.press(t, ".letter .button")
		b.inspectSchemes(t, "02-gifts")
		b.press(t, `a.choose[href*="hooded-sweatshirt"]`)
		b.inspectSchemes(t, "03-gift")

		b.press(t, ".send")
		b.await(t, `document.activeElement.classList.contains("problems")`) // A page gets its focus when it is drawn.
		b.inspectSchemes(t, "04-choice-error")
		b.click(t, `input[name="v:Size"][value="M"]`)
		b.click(t, `input[name="v:Colour"][value="Grey"]`)
		b.press(t, ".send")
		b.inspectSchemes(t, "05-country")

		b.fill(t, "070")
		b.inspect(t, "06-address")
		b.press(t, ".send")
		require.Contains(t, b.text(t, "#phone-error"), "+")
		require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`))
		b.inspectSchemes(t, "07-address-error")

		b.fill(t, "+46 70 123 45 67")
		b.press(t, ".send")
		b.inspectSchemes(t, "08-review")
		b.press(t, ".send")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
		b.inspectSchemes(t, "09-thanks")

		b.visit(t, f.base+"/c/"+token, 200)
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M", "reloading changes nothing")
		b.press(t, `a[href="?step=correct"]`)
		b.inspectSchemes(t, "10-correct")
		b.do(t, chromedp.SetValue(chromedp.CSS("#street"), "Nygatan 2"))
		b.press(t, ".send")
		require.Contains(t, b.text(t, "main"), "Nygatan 2", "this browser has typed the address")
		b.inspect(t, "11-corrected")
		sent := time.Now().AddDate(0, 0, 1)
		f.locked(func() {
			f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
			f.order.Gift.Carrier, f.order.Gift.TrackingReference = "PostNord", "SE1234567890"
			f.order.Gift.TrackingUrl = "https://carrier.example/track/1"
			f.order.Gift.CorrectableVersion, f.order.Gift.SentAt = nil, timestamppb.New(sent)
		})
		b.visit(t, f.base+"/c/"+token, 200)
		sentDay := b.text(t, fmt.Sprintf(`time[datetime="%s"]`, sent.UTC().Format(time.DateOnly)))
		require.Contains(t, sentDay, strconv.Itoa(sent.UTC().Day()))
		b.inspectSchemes(t, "12-sent")
		f.locked(func() {
			f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED
			f.order.Gift.DeliveredAt = timestamppb.New(sent.AddDate(0, 0, 3))
		})
		b.visit(t, f.base+"/c/"+token, 200)
		b.inspect(t, "13-delivered")
		b.do(t, chromedp.SetValue(chromedp.CSS("#word"), strings.Repeat("å", 281)))
		b.press(t, "form .quiet")
		b.inspectSchemes(t, "14-thanks-error")
		b.do(t, chromedp.SetValue(chromedp.CSS("#word"), kindWords[page.GetLocale()]))
		b.press(t, "form .quiet")
		b.inspectSchemes(t, "15-thanked")
		b.requireNoErrors(t)
		b.requireNoLeak(t, f.base)
		require.Equal(t, 1, f.claims)
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
	f.reset(page)
	b.visit(t, f.base+"/c/"+token, 200)
	b.inspect(t, "18-greeting")
	b.visit(t, f.base+"/c/"+token+"?step=choose", 200)
	b.inspect(t, "18-list")
	b.visit(t, f.base+"/c/"+token+"?gift=hooded-sweatshirt", 200)
	b.inspect(t, "18-gift")
	b.press(t, ".send")
	b.inspect(t, "18-errors")
	expired := closedPage(linksv1.ClaimState_CLAIM_STATE_EXPIRED, "de-DE")
	expired.Brand.Name = page.GetBrand().GetName()
	f.reset(expired)
	b.visit(t, f.base+"/c/"+token, 410)
	b.inspect(t, "18-expired")
}
