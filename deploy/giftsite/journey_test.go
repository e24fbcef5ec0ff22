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

// token is of the link that the site has.
const token = "Q2hvb3NlLWEtZ2lmdC10b2"

func onEveryScreen(t *testing.T, test func(t *testing.T, s *site, b *browser)) {
	t.Helper()
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) { test(t, startSite(t), open(t, screen)) })
	}
}

// fill types the address.
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

func TestAPlayerChoosesAGiftAndSaysWhereItGoes(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, s *site, b *browser) {
		s.put(s.open("en-US", "#1B4B8F"))
		b.visit(t, s.base+"/c/"+token, 200)
		b.look(t, "1-list")
		b.press(t, `button[value="hooded-sweatshirt"]`)
		b.look(t, "2-form")

		b.press(t, ".send")
		require.Equal(t, "true", b.value(t, `String(document.activeElement.classList.contains("problems"))`), "the faults come first")
		b.look(t, "3-faults")

		b.do(t, chromedp.Click(chromedp.CSS(`input[value="Colour=Grey&Size=M"]`)))
		b.fill(t, "070 123 45 67")
		b.press(t, ".send")
		require.Contains(t, b.text(t, "#phone-error"), "+44")
		require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`))
		b.look(t, "4-phone")

		b.fill(t, "+46 70 123 45 67")
		b.press(t, ".send")
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M")
		b.look(t, "5-thanks")

		b.visit(t, s.base+"/c/"+token, 200)
		require.Contains(t, b.text(t, ".reference"), "NP-4F7K2M", "reloading changes nothing")
		b.requireDiscreet(t, s.base)
	})
}

func TestAGiftThatIsGoneLeadsBackToTheOthersWithTheAddressKept(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, s *site, b *browser) {
		page := s.open("sv-SE", "#0FA3B1")
		s.put(page)
		b.visit(t, s.base+"/c/"+token+"?gift=dark-truffles", 200)
		b.fill(t, "+46701234567")
		s.mu.Lock()
		s.fault = problem.New(problem.OutOfStock, "gone")
		page.Gifts[0].OutOfStock = true
		s.mu.Unlock()
		b.press(t, ".send")
		require.Contains(t, b.text(t, ".problems"), "Dark truffles")
		b.look(t, "6-gone")
		b.press(t, `button[value="scented-candle"]`)
		require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`))
		require.Equal(t, "Sverige", b.value(t, `document.querySelector("#country").selectedOptions[0].text`))
		b.look(t, "7-kept")
		b.press(t, ".quiet")
		b.press(t, `button[value="steel-bottle"]`)
		require.Equal(t, "Storgatan 1", b.value(t, `document.querySelector("#street").value`))
	})
}

func TestTheKeyboardAloneIsEnough(t *testing.T) {
	s, b := startSite(t), open(t, screens[1])
	page := s.open("en-US", "#1B4B8F")
	page.Gifts = page.GetGifts()[1:2]
	s.put(page)
	b.visit(t, s.base+"/c/"+token, 200)
	b.do(t, chromedp.KeyEvent("\t"))
	require.Equal(t, "Skip to the content", b.value(t, "document.activeElement.textContent"))
	// Two groups of options, the address, phone, no e-mail, the button.
	for _, key := range []string{
		"\t", " ", "\t", " ", "\tAda Player", "\tStorgatan 1", "\t111 22", "\tStockholm", "\tSwe", "\t+46701234567", "\t", "\t",
	} {
		b.do(t, chromedp.KeyEvent(key))
	}
	require.Equal(t, "Send me this gift", b.value(t, "document.activeElement.textContent"))
	b.look(t, "8-focus")
	b.do(t, chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS(".reference")))
}

func TestEveryStateOfALinkHasItsPage(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, s *site, b *browser) {
		for name, tc := range map[string]struct {
			page   *linksv1.GetClaimPageResponse
			status int64
		}{
			"claimed": {closed(linksv1.ClaimState_CLAIM_STATE_CLAIMED), 200},
			"waiting": {closed(linksv1.ClaimState_CLAIM_STATE_WAITING), 200},
			"expired": {closed(linksv1.ClaimState_CLAIM_STATE_EXPIRED), 410},
			"unknown": {nil, 404},
		} {
			s.put(tc.page)
			b.visit(t, s.base+"/c/"+token, tc.status)
			b.look(t, "9-"+name)
		}
		s.mu.Lock()
		s.down = true
		s.mu.Unlock()
		b.visit(t, s.base+"/c/"+token, 503)
		b.look(t, "9-failing")
	})
}

func TestEveryBrandAndLocaleIsReadable(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, s *site, b *browser) {
		for name, look := range map[string]struct{ locale, colour string }{
			"gold-german": {"de-DE", "#B8860B"}, "yellow": {"sv-SE", "#FFE14D"}, "white": {"fi-FI", "#FFFFFF"},
			"black": {"en-US", "#000000"}, "none": {"en-US", ""},
		} {
			page := s.open(look.locale, look.colour)
			page.Message = nil
			s.put(page)
			b.visit(t, s.base+"/c/"+token, 200)
			b.look(t, "10-"+name)
			b.visit(t, s.base+"/c/"+token+"?gift=steel-bottle", 200)
			b.look(t, "10-"+name+"-form")
		}
	})
}

func TestTheLongestTextsFitTheSmallestScreen(t *testing.T) {
	s, b := startSite(t), open(t, screen{name: "small", width: 320, height: 568, options: screens[0].options})
	page := s.open("de-DE", "#7A1F3D")
	page.Label, page.Message = strings.Repeat("W", 255), proto.String(strings.Repeat("Geschenkgutschein", 15))
	page.Brand.Name = strings.Repeat("Spielbank", 20)
	gift := page.GetGifts()[2]
	gift.Name, gift.Description = strings.Repeat("Kapuzenpullover", 10), strings.Repeat("gemütlich", 40)
	gift.Variations[0].Values[0] = strings.Repeat("Übergröße", 8)
	s.put(page)
	b.visit(t, s.base+"/c/"+token, 200)
	b.look(t, "14-list")
	b.visit(t, s.base+"/c/"+token+"?gift=hooded-sweatshirt", 200)
	b.look(t, "14-form")
	b.press(t, ".send")
	b.look(t, "14-faults")
	closed := closed(linksv1.ClaimState_CLAIM_STATE_EXPIRED)
	closed.Brand.Name = page.GetBrand().GetName()
	s.put(closed)
	b.visit(t, s.base+"/c/"+token, 410)
	b.look(t, "14-expired")
}
