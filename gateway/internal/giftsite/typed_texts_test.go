package giftsite

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/phone"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// On a page of the other direction, what was typed is read in its own one.
func TestTypedTextsHaveADirectionOfTheirOwn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Locale = "ar"
	f.follow(choose("truffles"))
	review := f.follow(filled("name", "عليّ", "street", "Storgatan 1")).body
	for _, typed := range []string{"عليّ", "Storgatan 1", "111 22 Visby", "&#43;46 70 123 45 67"} {
		require.Contains(t, review, "<bdi>"+typed+"</bdi>")
	}
	require.Contains(t, f.get("?step=address").body, `<input dir="auto" id="street" name="street" type="text" value="Storgatan 1"`)
	f.order.Gift.Carrier, f.order.Gift.TrackingReference = "PostNord", "T-1"
	order := f.follow(f.confirm()).body
	for _, typed := range []string{"<bdi>NP-1</bdi>", "<bdi>A••• L•••</bdi>", "<bdi>PostNord</bdi> <bdi>T-1</bdi>"} {
		require.Contains(t, order, typed)
	}
}

func TestWhatAPersonWroteKeepsItsLinesAndDirection(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message, f.page.Greeting = proto.String("شكرا\nThank you"), proto.String("مرحبا\nHello")
	got := f.get("").body
	require.Contains(t, got, "<blockquote dir=\"auto\"><p><span class=\"line\">شكرا</span>\n<span class=\"line\">Thank you</span></p>")
	require.Contains(t, got, "<p class=\"welcome\" dir=\"auto\"><span class=\"line\">مرحبا</span>\n"+
		"<span class=\"line\">Hello</span></p>")
}

// What is unusual is asked, beside the input and once more before the gift is ordered. The form can be sent all the same.
func TestUnusualTextsAreAskedAbout(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	usual := f.follow(filled()).body
	require.NotContains(t, usual, `class="advice"`)
	require.Contains(t, usual, `aria-describedby="once"`)
	require.Regexp(t, `(?s)<p class="note" id="once">You can choose only once.</p>\s*<button class="send"`, usual)
	require.Contains(t, f.get("?step=address").body, `id="street-hint">For example Storgatan 12</p>`)

	review := f.follow(filled("street", "Storgatan", "phone", "+46 701 234")).body
	for _, note := range []string{"Is the house number missing?", "Is the phone number right, with all its digits?"} {
		require.Contains(t, review, `<p class="advice">`+note)
	}
	require.Contains(t, review, `href="?step=address" aria-describedby="notes"`)
	require.Contains(t, review, `aria-describedby="once notes"`)
	require.Contains(t, f.get("?step=address").body, `aria-describedby="street-advice street-hint"`)
	require.Contains(t, f.follow(f.confirm()).body, "Thank you")
}

// The API does not check the form of postal codes. So the page only advises, and the script says the same beside the input.
func TestAnUnusualPostalCodeIsSaidBesideItsInput(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Locale = "sv-SE"
	f.follow(choose("truffles"))
	const words = "Stämmer postnumret? Vanlig form (Tyskland): 26133"
	require.Contains(t, f.follow(filled("country", "DE", "postalCode", "123")).body, words, "on the review")
	page := f.get("?step=address").body
	require.Contains(t, page, `<p class="advice" id="postalCode-advice">`+words+"</p>")
	require.Contains(t, page, `aria-describedby="postalCode-advice postalCode-hint"`)
	require.Contains(t, page, `data-likely="\d{5}" data-unusual="`+words+`"`)
	require.NotContains(t, page, `aria-invalid="true"`)

	page = f.follow(filled("country", "DE", "postalCode", "26133", "step", stepCountry)).body
	require.NotContains(t, page, "advice\"")
	require.Contains(t, page, `aria-describedby="postalCode-hint"`)
}

func TestTheScriptHasTheHiddenWordsOfAnError(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Locale = "de-DE"
	f.follow(choose("truffles"))
	page := f.follow(filled("country", "SE", "name", "")).body
	require.Contains(t, page, `<div class="fields" data-error="Fehler:">`)
	require.Contains(t, page, `id="name-error"><span class="unseen">Fehler: </span>`)
	f.order.Gift.CorrectableVersion = proto.Int64(1)
	f.page.State, f.claimedBy = linksv1.ClaimState_CLAIM_STATE_CLAIMED, f.nonce
	require.Contains(t, f.get("?step=correct").body, `<div class="fields" data-error="Fehler:">`)
}

func TestTheExampleOfAPhoneNumberIsOfTheCountry(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Locale = "de-DE"
	f.follow(choose("truffles"))
	require.Contains(t, f.follow(filled("country", "SE", "step", stepCountry)).body, "Zum Beispiel 70 123 45 67. ",
		"the code is before the input")
	wrong := f.follow(filled("country", "SE", "phone", "x")).body
	require.Contains(t, wrong, "</span>Bitte prüfen Sie die Nummer.")
	require.Equal(t, 1, strings.Count(wrong, "70 123 45 67"), "the hint has it")
	f.page.Gifts[0].Countries = []string{"AQ"}
	require.Contains(t, f.follow(filled("country", "AQ", "step", stepCountry)).body, "Zum Beispiel &#43;49 170 1234567. ")
}

// The script may not refuse what the services accept.
func TestTheScriptAcceptsEveryPossiblePhoneNumber(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(field{input: phoneInput}.Form())
	for _, text := range []string{
		"+46 70-123 45 67", "+46 (0)70 123", "070-123 45 67", "0046701234567", "(0)70.123.45.67", "112", "+467 ", "", "+", "+46 ", "07",
		"a 070 123 45 67",
		"070 123 45 67 x", strings.Repeat("1", 21), "++46701234567", "070/1234567", "４６７０１２３",
		"tel:+46701234567", "TEL: 070-123 45 67", "+46 +46701234567", "+46 0046701234567", "\u202a+46\u00a070\u2011123\u2013 45 67\u202c",
		"٠٧٠ ١٢٣ ٤٥ ٦٧",
	} {
		if _, ok := phone.ParseIn(text, "SE"); ok {
			require.Regexp(t, form, text)
		}
	}
	for _, text := range []string{"", "+", "07", "a 070 123 45 67", "name@example.com", strings.Repeat("1", 26)} {
		require.NotRegexp(t, form, text)
	}
}

// What the page shows before the input is no part of its text, so that a whole number can be pasted.
func TestThePrefixOfACountryIsOutsideOfThePhoneNumber(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	const swedish = `<span id="phone-prefix">&#43;46</span><input id="phone" name="phone" type="tel" value="`
	require.Contains(t, f.follow(filled("step", stepCountry, "country", "SE", "phone", "")).body, swedish+`"`)
	require.Contains(t, f.follow(filled("step", stepCountry, "phone", "+46 70 123 45 67")).body, swedish+`70 123 45 67"`)
	abroad := f.follow(filled("step", stepCountry, "phone", "+47 22 12 34 56")).body
	require.Contains(t, abroad, `type="tel" value="&#43;47 22 12 34 56"`)
	require.NotContains(t, abroad, "phone-prefix")
}
