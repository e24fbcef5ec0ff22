package giftsite

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func TestAPlayerGoesFromTheGreetingToTheOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	greeting := f.get("")
	require.Contains(t, greeting.body, "Five years &amp; counting")
	require.Contains(t, greeting.body, `href="?step=choose"`)
	require.NotContains(t, greeting.body, "Dark truffles")
	list := f.get("?step=choose")
	require.Contains(t, list.body, `href="?step=gift&amp;gift=shirt"`)
	require.NotContains(t, list.body, "Five years", "the player has read it")
	require.Contains(t, f.get("?step=gift&gift=shirt").body, `value="Colour=Grey&amp;Size=S" disabled>`)

	address := f.follow(choose("shirt", "choice", "Colour=Navy&Size=S"))
	require.Contains(t, address.body, "Where should we send it?")
	review := f.follow(filled("name", "  Astrid Lindqvist ", "email", "astrid@example.com"))
	for _, shown := range []string{
		"Is everything right?", "Sweatshirt", "<dd><bdi>S</bdi></dd>", "<dd><bdi>Navy</bdi></dd>", "Astrid Lindqvist", "Storgatan 1",
		"111 22", "Visby", "Sweden", "&#43;46 70 123 45 67",
		"astrid@example.com", `href="?step=gift&amp;gift=shirt"`, `href="?step=address"`,
	} {
		require.Contains(t, review.body, shown)
	}
	require.NotContains(t, review.body, `type="hidden" name="name"`, "the address is not in the form")
	require.Empty(t, f.claims)

	thanks := f.follow(f.confirm())
	require.Contains(t, thanks.body, "Thank you")
	require.Contains(t, thanks.body, "NP-1")
	require.Len(t, f.claims, 1)
	require.True(t, proto.Equal(&linksv1.ClaimLinkRequest{
		Token: token, ProductId: "shirt", Variations: map[string]string{"Colour": "Navy", "Size": "S"}, FormNonce: proto.String(f.nonce),
		Recipient: &linksv1.ClaimRecipient{
			Name: "Astrid Lindqvist", Phone: "+46 70 123 45 67", Email: proto.String("astrid@example.com"),
			Street: "Storgatan 1", City: "Visby", PostalCode: proto.String("111 22"), Country: "SE",
		},
	}, f.claims[0]), "%v", f.claims[0])
}

func TestAGreetingWithoutAMessageCostsNoClick(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = nil
	require.Contains(t, f.get("").body, "Dark truffles")
	require.Contains(t, f.get("").body, "A gift for Astrid")
	f.page.Message = proto.String("Hello")
	f.review()
	again := f.get("")
	require.Contains(t, again.body, "Dark truffles", "who has begun does not read it again")
	require.Contains(t, again.body, `href="?step=review"`)
}

func TestTheLinesOfAMessageAreKeptAndALongLabelIsSmall(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = proto.String("First line\nSecond line")
	require.Contains(t, f.get("").body, "<p><span class=\"line\">First line</span>\n<span class=\"line\">Second line</span></p>")
	require.Contains(t, string(styleSheet), ".line { display: block; min-height: 1lh; }")
	require.Contains(t, f.get("").body, "<h1>")
	f.page.Label = strings.Repeat("W", 255)
	require.Contains(t, f.get("").body, `<h1 class="long">`)
}

// Every form is answered with a redirect, so that neither Back nor Reload sends it again.
func TestEveryFormRedirects(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		form    url.Values
		failure error
		to      string
	}{
		"a gift without choice":  {choose("shirt"), nil, "?step=gift&gift=shirt"},
		"no gift":                {url.Values{"step": {"gift"}}, nil, "?step=choose"},
		"another country":        {filled("step", "country", "country", "DE"), nil, "?step=address"},
		"a claim":                {nil, nil, ""},
		"out of stock":           {nil, problem.New(problem.OutOfStock, "gone"), "?step=review"},
		"a form of another page": {url.Values{"step": {"send"}}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.review()
			f.failure = tc.failure
			if tc.form == nil {
				tc.form = f.confirm()
			}
			got := f.send(tc.form)
			require.Equal(t, 303, got.Code)
			require.Equal(t, "/c/"+token+tc.to, got.Header().Get("Location"))
			require.Empty(t, got.body)
		})
	}
}

func TestTheNonceIsOnlyInACookieOfTheLink(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Empty(t, f.get("").Result().Cookies(), "who only looks gets none")
	sent := f.send(choose("truffles"))
	cookies := sent.Result().Cookies()
	require.Len(t, cookies, 1)
	cookie := cookies[0]
	require.Regexp(t, nonceForm, cookie.Value)
	require.True(t, cookie.HttpOnly)
	require.True(t, cookie.Secure)
	require.Equal(t, http.SameSiteLaxMode, cookie.SameSite, "a visit from webmail shows the order")
	require.Equal(t, "/c/"+token, cookie.Path)
	require.Equal(t, 24*60*60, cookie.MaxAge)
	require.NotContains(t, sent.Header().Get("Location"), cookie.Value)
	require.NotContains(t, f.follow(filled()).body, cookie.Value)
	f.follow(f.confirm())
	require.Equal(t, 90*24*60*60, f.get("").Result().Cookies()[0].MaxAge, "until the gift has arrived")
	require.Equal(t, cookie.Value, f.nonce, "it stays the same")
	require.NotContains(t, f.log.String(), cookie.Value)
}

func TestAnInvalidCookieIsReplaced(t *testing.T) {
	t.Parallel()
	for _, invalid := range []string{"A", strings.Repeat("A", 27), strings.Repeat("a", 26), `"><script>`} {
		f := setup(t)
		got := f.do(http.MethodPost, "/c/"+token, choose("truffles").Encode(), "Content-Type", formType, "Cookie", formCookie+"="+invalid)
		require.Equal(t, 303, got.Code)
		require.Regexp(t, nonceForm, got.Result().Cookies()[0].Value)
	}
}

func TestABrowserThatKeepsNothingIsToldSo(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, step := range []string{"address", "review"} {
		got := f.get("?step=" + step)
		require.Equal(t, 303, got.Code)
		require.Equal(t, "/c/"+token+"?step=choose&kept=1", got.Header().Get("Location"))
	}
	require.Contains(t, f.get("?step=choose&kept=1").body, "allow cookies for this page")
	require.Contains(t, f.follow(url.Values{"step": {"review"}, "version": {"1"}}).body, "allow cookies for this page",
		"a draft that has expired")
	require.Empty(t, f.claims)
	for name, form := range map[string]url.Values{
		"the only gift":              choose("truffles"),
		"a gift without its choices": choose("shirt"),
		"a gift that is gone":        choose("vase"),
		"an address":                 filled(),
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			if name == "the only gift" {
				f.page.Gifts = f.page.GetGifts()[:1]
			}
			require.NotContains(t, f.get("?step=gift&gift="+form.Get("gift")).body, "cookies")
			got := f.send(form)
			for got.Code == http.StatusSeeOther {
				f.nonce = "" // The browser keeps none.
				got = f.do(http.MethodGet, got.Header().Get("Location"), "")
			}
			require.Contains(t, got.body, "allow cookies for this page")
		})
	}
}

func TestAStepThatIsMissingComesFirst(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Contains(t, f.follow(filled()).body, "Choose the gift you like best.")
	require.Contains(t, f.follow(choose("truffles")).body, "Is everything right?", "the address was kept")
	f.page.Gifts[0].Countries = []string{"DE"}
	require.Contains(t, f.follow(choose("truffles")).body, "This gift cannot be sent to the country you chose.")
}

func TestErrorsAreShownAtTheirInputs(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Locale = "sv-SE"
	f.follow(choose("truffles"))
	got := f.follow(filled("city", "", "phone", "070", "name", `"><script>`))
	require.Equal(t, 200, got.Code)
	require.Contains(t, got.body, "<title>Kontrollera: ")
	require.Regexp(t,
		`(?s)<ul>\s*<li><a href="#city">Ange postort</a></li>\s*<li><a href="#phone">[^<]*</a></li>\s*</ul>`, got.body)
	require.Contains(t, got.body, `aria-describedby="phone-error phone-prefix phone-hint" aria-invalid="true"`)
	require.Contains(t, got.body, `value="&#34;&gt;&lt;script&gt;"`)
	require.Contains(t, got.body, `value="Storgatan 1"`)
	require.Equal(t, 2, strings.Count(got.body, `aria-invalid="true"`))
	reloaded := f.get("?step=address")
	require.Equal(t, got.body, reloaded.body, "a reload shows the same")
	require.NotContains(t, f.follow(filled()).body, `class="problems"`)
	require.NotContains(t, f.get("?step=address").body, `aria-invalid="true"`)
}

func TestInvalidTextIsNotSentOn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	got := f.follow(filled("name", "Astrid\xff", "city", "Vis\x00by"))
	require.Contains(t, got.body, `</span>This is not valid, please check it</p>`)
	require.Contains(t, got.body, `<a href="#name">Full name – This is not valid, please check it</a>`)
	require.Contains(t, got.body, `<a href="#city">Town or city – This is not valid, please check it</a>`)
	require.Contains(t, got.body, `value="Storgatan 1"`)
	require.Empty(t, f.claims)
}

// The form does not ask for a country that is known.
func TestTheCountryIsThatOfTheLinkOrElseOfTheLanguagesOfTheBrowser(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ locale, accepted, want string }{
		{"sv-SE", "en-IE", "SE"},
		{"en-US", "de-DE, en-IE;q=0.8, sv-SE;q=0.5", "IE"},
		{"en-US", "en-US, sv-SE", "SE"},
		{"de-DE", "sv-SE", "SE"},
		{"en-US", "en-US", ""},
		{"en-US", "ar, sv", ""},
		{"en-US", "", ""},
		{"en-US", "\x00;;q=?", ""},
	} {
		f := setup(t)
		f.page.Locale, f.page.Gifts[1].Countries = tc.locale, []string{"IE", "SE", "US", "EG"}
		f.follow(choose("shirt", "choice", "Colour=Navy&Size=S"))
		page := f.do(http.MethodGet, "/c/"+token+"?step=address", "", "Accept-Language", tc.accepted).body
		_, selected, _ := strings.Cut(page, `<option value="`+tc.want+`"`)
		require.Equal(t, tc.want != "", strings.HasPrefix(selected, " selected>"), "%+v", tc)
		require.Equal(t, tc.want != "", strings.Contains(page, `id="street"`), "%+v", tc)
	}
}

func TestTheCountryIsFirst(t *testing.T) {
	t.Parallel()
	f := setup(t)
	asked := f.follow(choose("shirt", "choice", "Colour=Navy&Size=S"))
	require.Contains(t, asked.body, `<option value="IE">Ireland</option>`)
	require.NotContains(t, asked.body, `value="DE"`, "only countries of the gift")
	require.NotContains(t, asked.body, `id="street"`, "its form depends on the country")
	irish := f.follow(url.Values{"step": {"country"}, "country": {"IE"}})
	require.Regexp(t, `<label for="postalCode">[^<]+ <span class="optional">\(optional\)</span></label>`, irish.body)
	require.NotContains(t, irish.body, `class="problems"`, "nothing was sent yet")
	swedish := f.follow(filled("step", "country", "country", "SE", "city", ""))
	require.Regexp(t, `<label for="postalCode">[^<]+</label>`, swedish.body)
	require.Regexp(t, `(?s)id="street".*id="postalCode".*id="city".*id="phone"`, swedish.body, "as Sweden writes it")
	require.Contains(t, swedish.body, `value="Storgatan 1"`)
	for id, autocomplete := range map[string]string{
		"name": "name", "street": "address-line1", "postalCode": "postal-code", "city": "address-level2", "phone": "tel",
		"email": "email",
	} {
		require.Regexp(t, `id="`+id+`" name="`+id+`" type="\w+" value="[^"]*" autocomplete="`+autocomplete+`"`, swedish.body)
	}
	require.Contains(t, swedish.body, `name="country" autocomplete="country"`)
}

// An address of an order has no region: it is sent with the city.
func TestARegionIsSentWithTheCity(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Gifts[0].Countries = []string{"US"}
	form := f.follow(choose("truffles"))
	require.Regexp(t, `(?s)id="city".*id="region".*id="postalCode"`, form.body)
	american := func(region string) url.Values {
		return filled("country", "US", "city", "Austin", "region", region, "postalCode", "78701", "phone", "+1 512 555 0100")
	}
	require.Contains(t, f.follow(american(" ")).body, `<a href="#region">`)
	require.Contains(t, f.get("?step=address").body, `value="Austin"`)
	require.Contains(t, f.follow(choose("truffles")).body, `id="region"`,
		"a region that is missing is not forgotten with the choice of a gift")
	f.follow(url.Values{"step": {"review"}, "version": {strconv.Itoa(int(f.drafts[f.nonce].GetVersion()))}})
	require.Empty(t, f.claims)
	review := f.follow(american("TX"))
	require.Contains(t, review.body, "<p class=\"lines-to\"><bdi>Astrid Lindqvist</bdi><br>\n<bdi>Storgatan 1</bdi><br>\n"+
		"<bdi>Austin, TX 78701</bdi><br>\n<bdi>United States</bdi></p>")
	f.follow(f.confirm())
	require.Equal(t, "Austin, TX", f.claims[0].GetRecipient().GetCity())
	require.Nil(t, f.claims[0].GetRecipient().Region)
}

func TestAGiftThatIsGoneLeadsBackToTheListAndKeepsTheAddress(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failure error
		text    string
	}{
		"no stock":              {problem.New(problem.OutOfStock, "gone"), "Sorry, “Dark truffles” has just been taken."},
		"no longer in the list": {problem.New(problem.ProductNotAvailable, "gone"), "Sorry, the gift you chose is no longer available."},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.review()
			f.failure = tc.failure
			require.Contains(t, f.follow(f.confirm()).body, tc.text)
			f.failure = nil
			chosen := f.follow(choose("shirt", "choice", "Colour=Navy&Size=S"))
			require.Contains(t, chosen.body, "Is everything right?")
			require.Contains(t, chosen.body, "Storgatan 1")
			require.Len(t, f.claims, 1)
			require.Contains(t, f.follow(f.confirm()).body, "NP-1")
		})
	}
	t.Run("before the review", func(t *testing.T) {
		f := setup(t)
		f.review()
		f.page.Gifts[0].OutOfStock = true
		got := f.get("?step=review")
		require.Equal(t, "/c/"+token+"?step=choose", got.Header().Get("Location"))
		require.Contains(t, f.get("?step=choose").body, "Sorry, “Dark truffles” has just been taken.")
	})
	t.Run("one other gift is left", func(t *testing.T) {
		f := setup(t)
		f.review()
		f.page.Gifts = f.page.GetGifts()[1:2]
		require.Equal(t, "/c/"+token+"?step=choose", f.get("?step=review").Header().Get("Location"))
		left := f.get("?step=choose").body
		require.Contains(t, left, `name="gift" value="shirt"`)
		require.Contains(t, left, "Sorry, the gift you chose is no longer available.")
		require.Contains(t, left, "<title>Please check")
		require.Contains(t, f.follow(choose("shirt", "choice", "Colour=Navy&Size=S")).body, "Storgatan 1")
		require.NotContains(t, f.get("?step=gift").body, "Sorry")
	})
}

func TestAFailedClaimIsReportedWhereItCanBeCorrected(t *testing.T) {
	t.Parallel()
	gone := []string{
		`<fieldset class="choices wrong" id="choice-1" aria-describedby="choice-1-error">`,
		"Your choice is no longer available.",
	}
	for name, tc := range map[string]struct {
		failure   error
		meanwhile func(f *fixture)
		want      []string
	}{
		"a choice out of stock": {
			problem.New(problem.OutOfStock, "gone"),
			func(f *fixture) { f.page.Gifts[1].Choices = f.page.GetGifts()[1].GetChoices()[1:] },
			[]string{"Your choice is no longer available."},
		},
		"an invalid choice": {problem.New(problem.InvalidVariations, "gone"), func(f *fixture) {
			f.page.Gifts[1].Choices = []*linksv1.ClaimChoice{
				{Variations: map[string]string{"Size": "M", "Colour": "Grey"}},
				{Variations: map[string]string{"Size": "S", "Colour": "Grey"}},
				{Variations: map[string]string{"Size": "M", "Colour": "Navy"}},
			}
		}, gone},
		"another country": {
			problem.New(problem.NotDeliverableToCountry, "no"),
			func(f *fixture) { f.page.Gifts[1].Countries = []string{"IE"} },
			[]string{
				`<a href="#country">This gift cannot be sent to the country you chose.`,
				`</span>This gift cannot be sent to the country you chose.`,
			},
		},
		"a field": {
			problem.Invalid(problem.Violation{Field: "recipient.phone", Code: problem.FieldInvalid}), nil,
			[]string{`<a href="#phone">Phone number – Check the number.`, `</span>Check the number.`, `value="Storgatan 1"`},
		},
		"an unknown field": {
			problem.Invalid(problem.Violation{Field: "something.new", Code: problem.FieldInvalid}), nil,
			[]string{"Your gift could not be ordered just now."},
		},
		"a claim in progress": {
			problem.New(problem.IdempotencyInProgress, "running"), nil,
			[]string{"Your earlier click is still being processed."},
		},
		"a failure": {problem.Unavailable(), nil, []string{"Your gift could not be ordered just now.", "Storgatan 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.follow(choose("shirt", "choice", "Colour=Navy&Size=S"))
			f.follow(filled())
			f.failure = tc.failure
			confirm := f.confirm()
			if tc.meanwhile != nil {
				tc.meanwhile(f)
			}
			got := f.follow(confirm)
			for _, want := range tc.want {
				require.Contains(t, got.body, want)
			}
			require.NotContains(t, f.log.String(), "Storgatan")
			require.NotContains(t, f.log.String(), token)
		})
	}
}

func TestAFailedClaimCanBeRepeated(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.review()
	f.failure, f.failures = problem.Unavailable(), 1
	require.Contains(t, f.follow(f.confirm()).body, "Nothing is lost")
	require.Contains(t, f.follow(f.confirm()).body, "NP-1")
	require.Equal(t, f.claims[0].GetFormNonce(), f.claims[1].GetFormNonce())
}

// Two tabs of a browser have one draft. Nothing is claimed but what the tab shows.
func TestAnotherTabCannotChangeWhatIsClaimed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.review()
	first := f.confirm()
	f.follow(choose("shirt", "choice", "Colour=Navy&Size=S"))
	got := f.follow(first)
	require.Contains(t, got.body, "Your choice or address was changed on another page.")
	require.Contains(t, got.body, "Sweatshirt")
	require.Empty(t, f.claims)
	require.Contains(t, f.follow(f.confirm()).body, "NP-1")
	require.Equal(t, "shirt", f.claims[0].GetProductId())
	for _, version := range []string{"", "x", "-1", "99"} {
		f := setup(t)
		f.review()
		f.follow(url.Values{"step": {"review"}, "version": {version}})
		require.Empty(t, f.claims)
	}
}

// The answer of a claim may be lost, also by the end of this process: the browser sees the order by its cookie.
func TestARepeatedClaimShowsItsOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.review()
	confirm := f.confirm()
	for range 3 {
		require.Contains(t, f.follow(confirm).body, "NP-1")
	}
	require.Len(t, f.claims, 1, "the draft is gone with the claim")
	other := f.nonce
	f.nonce = ""
	require.NotContains(t, f.get("").body, "NP-1", "to others who have the link")
	f.nonce = strings.Repeat("A", 26)
	require.NotContains(t, f.get("").body, "NP-1")
	f.nonce = other
	require.Contains(t, f.get("").body, "NP-1")
}

func TestALinkThatHasEndedShowsItsState(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]func(f *fixture) url.Values{
		"a gift":     func(*fixture) url.Values { return choose("truffles") },
		"an address": func(*fixture) url.Values { return filled() },
		"a review":   func(f *fixture) url.Values { return f.confirm() },
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.review()
			values := form(f)
			f.page.State, f.page.Gifts = linksv1.ClaimState_CLAIM_STATE_EXPIRED, nil
			got := f.follow(values)
			require.Equal(t, 410, got.Code)
			require.Contains(t, got.body, "This link has expired")
			require.NotContains(t, got.body, "Astrid")
		})
	}
	t.Run("unless it is unknown", func(t *testing.T) {
		f := setup(t)
		f.saveErr = problem.RecordNotFound()
		require.Equal(t, 404, f.send(filled()).Code)
	})
}

// If nothing can be stored, only the request has what was typed. So the answer is no redirect, and a reload sends it again.
func TestAFormThatCannotBeKeptIsNotRedirected(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	f.saveErr = problem.Unavailable()
	got := f.send(filled())
	require.Equal(t, 503, got.Code)
	require.Contains(t, got.body, "We will be right back")
	require.Equal(t, "30", got.Header().Get("Retry-After"))
	require.NotContains(t, f.log.String(), "Storgatan")
	f.saveErr = nil
	require.Contains(t, f.follow(got.again()).body, "Storgatan 1", "the button sends the form again")
	f.saveErr = problem.New(problem.PayloadTooLarge, "large")
	require.Equal(t, 413, f.send(filled()).Code)
	f.saveErr = problem.Invalid()
	require.Equal(t, 400, f.send(filled()).Code)
	f.pageErr = problem.Unavailable()
	require.Contains(t, f.get("?step=review").body, `href="">Try again`, "this page, not the first one")
}

// A player who leaves the form before it is sent finds in it what was typed.
func TestTheAddressFormKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	require.Contains(t, f.follow(filled("step", "back", "phone", "07")).body, "Dark truffles")
	require.Contains(t, f.follow(choose("truffles")).body, `value="Storgatan 1"`)

	f.page.Gifts[0].Countries = []string{"DE", "IE"}
	elsewhere := f.get("?step=address").body
	require.Contains(t, elsewhere, "This gift cannot be sent to the country you chose.")
	require.NotContains(t, elsewhere, `id="street"`)
	german := f.follow(url.Values{"step": {"country"}, "country": {"DE"}}).body
	for _, text := range []string{"Astrid Lindqvist", "Storgatan 1", "Visby", "07"} {
		require.Contains(t, german, `value="`+text+`"`)
	}
	require.NotContains(t, f.follow(filled("country", "DE", "postalCode", "")).body, "111 22", "what is emptied is gone")
}

// A number without a code is of the country whose form the player has filled.
func TestAnotherCountryDoesNotChangeThePhoneNumber(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"40 61 23 45": "+47 40 61 23 45", "+47 40612345": "+47 40 61 23 45", "+45 40612345": "+45 40 61 23 45", "07": "07",
	} {
		for _, step := range []string{stepCountry, stepAddress, stepBack} {
			f := setup(t)
			f.page.Gifts[0].Countries = []string{"NO", "DK"}
			f.follow(choose("truffles"))
			require.NotContains(t, f.get("?step=address").body, `name="formCountry"`, "no form is shown")
			norwegian := f.follow(url.Values{"step": {stepCountry}, "country": {"NO"}}).body
			require.Contains(t, norwegian, `<input type="hidden" name="formCountry" value="NO">`)
			f.follow(filled("step", step, "formCountry", "NO", "country", "DK", "postalCode", "8660", "phone", typed))
			require.Equal(t, want, f.drafts[f.nonce].GetRecipient().GetPhone(), "%s %s", typed, step)
		}
	}
}

func TestACountryHasToBeChosen(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	page := f.follow(url.Values{"step": {"country"}, "country": {""}}).body
	require.Contains(t, page, `</span>Choose a country</p>`)
	require.Contains(t, page, `aria-invalid="true" aria-describedby="country-error"`)
	require.NotContains(t, f.follow(url.Values{"step": {"country"}, "country": {"SE"}}).body, `class="problems"`)
}

func TestTheGiftSaysWhereItCanBeSent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Contains(t, f.get("?step=gift&gift=truffles").body, "<dt>Can be sent to</dt><dd><bdi>Germany, Sweden</bdi></dd>")
	f.page.Gifts[0].Countries = []string{"SE", "DE", "IE", "US", "CA", "FR", "IT"}
	require.NotContains(t, f.get("?step=gift&gift=truffles").body, "Can be sent to")
}

// A form of another tab that is sent after the claim is no correction of the order.
func TestAFormOfAnotherTabChangesNothingAfterTheClaim(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.review()
	f.send(f.confirm())
	for _, late := range []url.Values{filled("street", "Nygatan 9"), choose("shirt")} {
		page := f.follow(late).body
		require.Contains(t, page, "NP-1")
		require.Contains(t, page, "Nothing was changed.")
		require.NotContains(t, f.get("?step=correct").body, "Nygatan")
	}
}

// Another device was first: its gift comes, and this one says that its own is not used.
func TestWhoComesTooLateIsToldThatNothingWasUsed(t *testing.T) {
	t.Parallel()
	const notUsed = "What you have just sent was not used"
	for name, late := range map[string]func(f *fixture) url.Values{
		"a gift":     func(*fixture) url.Values { return choose("truffles") },
		"an address": func(*fixture) url.Values { return filled() },
		"an order":   func(f *fixture) url.Values { return f.confirm() },
	} {
		f := setup(t)
		f.review()
		form := late(f)
		f.page.State, f.claimedBy, f.claimed.OrderReference = linksv1.ClaimState_CLAIM_STATE_CLAIMED, "another", nil
		page := f.follow(form).body
		require.Contains(t, page, "This gift has already been chosen", name)
		require.Contains(t, page, notUsed, name)
		require.NotContains(t, f.get("").body, notUsed, name)
		require.Empty(t, f.claims, name)
	}
	own := ordered(t)
	require.NotContains(t, own.follow(choose("truffles")).body, notUsed)
}
