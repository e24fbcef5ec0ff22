package giftsite

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func TestAFormClaimsTheGiftAndRedirectsToTheLink(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got := f.send(filled("gift", "shirt", "choice", "Colour=Navy&Size=S", "name", "  Astrid Lindqvist ", "email", "astrid@example.com"))
	require.Equal(t, 303, got.Code)
	require.Equal(t, "/c/"+token, got.Header().Get("Location"))
	require.Empty(t, got.body)
	require.Len(t, f.claims, 1)
	require.True(t, proto.Equal(&linksv1.ClaimLinkRequest{
		Token: token, ProductId: "shirt", Variations: map[string]string{"Colour": "Navy", "Size": "S"},
		Recipient: &linksv1.ClaimRecipient{
			Name: "Astrid Lindqvist", Phone: "+46701234567", Email: proto.String("astrid@example.com"),
			Street: "Storgatan 1", City: "Visby", PostalCode: proto.String("111 22"), Country: "SE",
		},
	}, f.claims[0]), "%v", f.claims[0])
}

func TestOptionalFieldsLeftEmptyAreNotSent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Equal(t, 303, f.send(filled("postalCode", " ", "v:Size", "M", "v:Colour", "Grey")).Code)
	require.Nil(t, f.claims[0].GetRecipient().PostalCode)
	require.Nil(t, f.claims[0].GetRecipient().Email)
	require.Equal(t, map[string]string{"Size": "M", "Colour": "Grey"}, f.claims[0].GetVariations())
}

func TestTheConfirmationIsShownInTheBrowserThatClaimedTheGift(t *testing.T) {
	t.Parallel()
	f := setup(t)
	claimed := f.send(filled())
	cookies := claimed.Result().Cookies()
	require.Len(t, cookies, 1)
	cookie := cookies[0]
	require.True(t, cookie.HttpOnly)
	require.True(t, cookie.Secure)
	require.Equal(t, http.SameSiteLaxMode, cookie.SameSite, "a visit from webmail shows the confirmation")
	require.Equal(t, "/c/"+token, cookie.Path)

	f.page.State, f.page.Gifts = linksv1.ClaimState_CLAIM_STATE_CLAIMED, nil
	got := f.do(http.MethodGet, "/c/"+token, "", "Cookie", cookie.Name+"="+cookie.Value)
	require.Equal(t, 200, got.Code)
	require.Contains(t, got.body, "Thank you")
	require.Contains(t, got.body, "NP-1")
	require.NotContains(t, f.get("").body, "NP-1", "to others who have the link")
	forged := f.do(http.MethodGet, "/c/"+token, "", "Cookie", cookie.Name+"=call+this+number")
	require.Contains(t, forged.body, "This gift has already been chosen")
}

func TestTheConfirmationIsShownEvenIfTheLinkIsStillOpen(t *testing.T) {
	t.Parallel()
	f := setup(t)
	cookie := f.send(filled()).Result().Cookies()[0]
	got := f.do(http.MethodGet, "/c/"+token, "", "Cookie", cookie.Name+"="+cookie.Value)
	require.Equal(t, 200, got.Code)
	require.Contains(t, got.body, "Thank you")
	require.NotContains(t, got.body, "Choose the gift you like best.")
}

func TestARepeatedFormClaimsNothingMore(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Equal(t, 303, f.send(filled()).Code)
	f.claimed = &linksv1.ClaimLinkResponse{State: linksv1.ClaimState_CLAIM_STATE_CLAIMED}
	again := f.send(filled())
	require.Equal(t, 303, again.Code)
	require.Empty(t, again.Result().Cookies(), "the reference of the first claim is kept")
}

var nonceInput = regexp.MustCompile(`<input type="hidden" name="nonce" value="([A-Z2-7]{26})">`)

// nonceOf returns the nonce of the form on a page, or "".
func nonceOf(page answer) string {
	if found := nonceInput.FindStringSubmatch(page.body); found != nil {
		return found[1]
	}
	return ""
}

func TestEveryFormHasItsOwnNonce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	first, second := nonceOf(f.get("?gift=truffles")), nonceOf(f.get("?gift=truffles"))
	require.NotEmpty(t, first)
	require.NotEmpty(t, second)
	require.NotEqual(t, first, second)
	require.Empty(t, nonceOf(f.get("")), "a nonce is never in a URL")
}

func TestAFormKeepsItsNonceUntilItIsClaimed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	nonce := nonceOf(f.get("?gift=truffles"))
	require.Equal(t, nonce, nonceOf(f.send(filled("step", "list", "nonce", nonce))), "the list keeps it")
	require.Equal(t, nonce, nonceOf(f.send(filled("step", "form", "nonce", nonce))))
	f.failure = problem.Unavailable()
	failed := f.send(filled("nonce", nonce))
	require.Equal(t, 503, failed.Code)
	require.Equal(t, nonce, nonceOf(failed), "perhaps the claim has succeeded")
	f.failure = nil
	require.Equal(t, 303, f.send(filled("nonce", nonceOf(failed))).Code)
	require.Equal(t, nonce, f.claims[1].GetFormNonce())
}

func TestAnInvalidNonceIsReplaced(t *testing.T) {
	t.Parallel()
	for _, invalid := range []string{"", "A", strings.Repeat("A", 27), strings.Repeat("a", 26), strings.Repeat("A", 26) + "\n", `"><script>`} {
		f := setup(t)
		got := f.send(filled("step", "form", "nonce", invalid))
		require.NotEmpty(t, nonceOf(got), invalid)
		require.NotEqual(t, invalid, nonceOf(got))
		require.Equal(t, 303, f.send(filled("nonce", invalid)).Code)
		require.Nil(t, f.claims[0].FormNonce, invalid)
	}
}

func TestARepeatedFormGetsTheReferenceOfItsOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	nonce := nonceOf(f.get("?gift=truffles"))
	for range 2 { // The second click has no cookie yet.
		got := f.send(filled("nonce", nonce))
		require.Equal(t, 303, got.Code)
		require.Equal(t, "NP-1", got.Result().Cookies()[0].Value)
	}
	require.Equal(t, nonce, f.claims[0].GetFormNonce())
	require.Equal(t, nonce, f.claims[1].GetFormNonce())
}

func TestAClaimWhoseAnswerWasLostShowsItsConfirmation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	nonce := nonceOf(f.get("?gift=truffles"))
	f.failure, f.failures = problem.Unavailable(), 1
	f.page.State, f.page.Gifts = linksv1.ClaimState_CLAIM_STATE_CLAIMED, nil
	got := f.send(filled("nonce", nonce))
	require.Equal(t, 303, got.Code)
	require.Len(t, got.Result().Cookies(), 1)
	require.Equal(t, "NP-1", got.Result().Cookies()[0].Value)
	require.Equal(t, nonce, f.claims[1].GetFormNonce())
}

func TestEveryErrorIsShownAtItsField(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]struct{ path, code, text string }{
		"name":       {"recipient.name", problem.FieldRequired, "Enter your full name"},
		"street":     {"recipient.address.street", problem.FieldTooLong, "Street and number: at most 255 characters"},
		"postalCode": {"recipient.address.postalCode", problem.FieldRequired, "Enter the postal code"},
		"city":       {"recipient.address.city", problem.FieldInvalid, "City: this is not valid, please check it"},
		"country":    {"recipient.address.country", problem.FieldInvalid, "Choose a country from the list"},
		"phone":      {"recipient.phone", problem.FieldInvalid, "Enter the phone number with &#43; and the country code, for example &#43;44 7700 900123"},
		"email":      {"recipient.email", problem.FieldInvalid, "Enter an e-mail address such as name@example.com, or leave it empty"},
	} {
		t.Run(field, func(t *testing.T) {
			f := setup(t)
			f.failure = problem.Invalid(problem.Violation{Field: want.path, Code: want.code, Message: "text of the API"})
			got := f.send(filled("street", `Storgatan "1"`))
			require.Equal(t, 400, got.Code)
			require.Contains(t, got.body, `<li><a href="#`+field+`">`+want.text+`</a></li>`)
			require.Contains(t, got.body, `id="`+field+`-error"><span class="unseen">Error: </span>`+want.text+`</p>`)
			require.Regexp(t, `id="`+field+`" name="`+field+`"[^>]* aria-describedby="`+field+`-error`, got.body)
			require.Equal(t, 1, strings.Count(got.body, `aria-invalid="true"`))
			require.Contains(t, got.body, `role="alert" tabindex="-1" autofocus`)
			require.Contains(t, got.body, "<title>Please check:")
			require.NotContains(t, got.body, "text of the API")
			require.Contains(t, got.body, `value="Storgatan &#34;1&#34;"`, "the entered text is kept")
			require.Contains(t, got.body, `<option value="SE" selected>`)
		})
	}
}

func TestAllErrorsAreListedInTheOrderOfThePage(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Locale = "sv-SE"
	f.failure = problem.Invalid(
		problem.Violation{Field: "recipient.phone", Code: problem.FieldInvalid},
		problem.Violation{Field: "recipient.address.city", Code: problem.FieldRequired},
		problem.Violation{Field: "variations", Code: problem.FieldRequired},
		problem.Violation{Field: "recipient.address.city", Code: problem.FieldTooLong},
	)
	got := f.send(filled("gift", "shirt"))
	require.Regexp(t, `(?s)<ul>\s*<li><a href="#choice-0-0">Välj ett alternativ: Storlek, Färg</a></li>\s*`+
		`<li><a href="#city">Ange ort</a></li>\s*<li><a href="#phone">[^<]*</a></li>\s*</ul>`, got.body)
}

func TestInvalidTextIsNotSentOn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got := f.send(filled("name", "Astrid\xff", "city", "Vis\x00by"))
	require.Equal(t, 400, got.Code)
	require.Empty(t, f.claims)
	require.Contains(t, got.body, `<a href="#name">Full name: this is not valid`)
	require.Contains(t, got.body, `<a href="#city">City: this is not valid`)
	require.Contains(t, got.body, `value="Storgatan 1"`)
}

func TestAGiftThatIsGoneLeadsBackToTheList(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failure error
		status  int
		text    string
	}{
		"no stock":               {problem.New(problem.OutOfStock, "gone"), 409, "Sorry, Dark truffles has just been taken."},
		"no longer in the list":  {problem.New(problem.ProductNotAvailable, "gone"), 422, "Sorry, the gift you chose is no longer available."},
		"no longer the campaign": {problem.New(problem.ProductNotInCampaign, "gone"), 422, "Sorry, the gift you chose is no longer available."},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.failure = tc.failure
			got := f.send(filled())
			require.Equal(t, tc.status, got.Code)
			require.Contains(t, got.body, tc.text)
			require.Contains(t, got.body, `method="post"`, "an address is never in a URL")
			for _, field := range []string{"name", "street", "postalCode", "city", "country", "phone"} {
				require.Contains(t, got.body, `<input type="hidden" name="`+field+`" value="`)
			}
			f.failure = nil
			chosen := f.send(filled("step", "form", "gift", "shirt"))
			require.Equal(t, 200, chosen.Code)
			require.Contains(t, chosen.body, `value="Storgatan 1"`)
			require.Len(t, f.claims, 1)
		})
	}
}

func TestAFailedClaimIsReportedWhereItCanBeCorrected(t *testing.T) {
	t.Parallel()
	gone := []string{
		`<fieldset class="choices wrong" id="choice-0" aria-describedby="choice-0-error">`, "Your choice is no longer available.", `value="Storgatan 1"`,
	}
	for name, tc := range map[string]struct {
		failure error
		changes []string
		status  int
		want    []string
	}{
		"a choice out of stock": {problem.New(problem.OutOfStock, "gone"), []string{"gift", "shirt", "choice", "Colour=Grey&Size=S"}, 409, gone},
		"an invalid choice":     {problem.New(problem.InvalidVariations, "gone"), []string{"gift", "shirt", "choice", "Colour=Grey&Size=S"}, 422, gone},
		"no choice":             {problem.New(problem.InvalidVariations, "none"), []string{"gift", "shirt"}, 422, []string{"Choose one: Size, Colour"}},
		"another country": {problem.New(problem.NotDeliverableToCountry, "no"), []string{"country", "US"}, 422, []string{
			`<a href="#country">This gift cannot be sent to the country you chose.`, "Choose another gift",
		}},
		"an unknown field": {
			problem.Invalid(problem.Violation{Field: "something.new", Code: problem.FieldInvalid}), nil, 400,
			[]string{"<li>Your gift could not be ordered just now."},
		},
		"a claim in progress": {problem.New(problem.IdempotencyInProgress, "running"), nil, 409, []string{"Your earlier click is still being processed."}},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.failure = tc.failure
			got := f.send(filled(tc.changes...))
			require.Equal(t, tc.status, got.Code)
			for _, want := range tc.want {
				require.Contains(t, got.body, want)
			}
		})
	}
}

func TestAFailedClaimCanBeRepeated(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.failure = problem.Unavailable()
	got := f.send(filled())
	require.Equal(t, 503, got.Code)
	require.Equal(t, "2", got.Header().Get("Retry-After"))
	require.Contains(t, got.body, "please send the form again")
	require.Contains(t, got.body, `value="Storgatan 1"`)
	require.NotContains(t, f.log.String(), token)
	require.NotContains(t, f.log.String(), "Storgatan")

	f.failure, f.pageErr = problem.Unavailable(), problem.Unavailable()
	require.Contains(t, f.send(filled()).body, "We will be right back")
}

func TestALinkThatWasClosedInTheMeantimeShowsItsState(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.claimed = &linksv1.ClaimLinkResponse{State: linksv1.ClaimState_CLAIM_STATE_EXPIRED}
	require.Equal(t, 303, f.send(filled()).Code)

	f.failure = problem.New(problem.CampaignNotActive, "over")
	f.page.State, f.page.Gifts = linksv1.ClaimState_CLAIM_STATE_EXPIRED, nil
	got := f.send(filled())
	require.Equal(t, 303, got.Code)
	require.Equal(t, "/c/"+token, got.Header().Get("Location"))
	require.Equal(t, 303, f.send(filled("step", "list")).Code)

	f.failure = problem.RecordNotFound()
	require.Equal(t, 404, f.send(filled()).Code)
}

func TestGoingBackToTheListKeepsTheAddress(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got := f.send(filled("step", "list", "name", `"><script>`))
	require.Equal(t, 200, got.Code)
	require.Empty(t, f.claims)
	require.Contains(t, got.body, `<input type="hidden" name="name" value="&#34;&gt;&lt;script&gt;">`)
	require.Contains(t, got.body, "Choose the gift you like best.")
	require.Contains(t, f.send(url.Values{"gift": {"shirt"}}).body, "Where should we send it?", "a form without a step claims nothing")
	require.Empty(t, f.claims)
}
