package giftsite

import (
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestAnOpenLinkListsItsGifts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = nil
	got := f.get("")
	require.Equal(t, 200, got.Code)
	require.Equal(t, "text/html; charset=utf-8", got.Header().Get("Content-Type"))
	require.Contains(t, got.body, `<html lang="en-US" dir="ltr">`)
	require.Contains(t, got.body, "A gift for Astrid &lt;3")
	require.Contains(t, got.body,
		`<img class="logo" src="https://gifts.example/api/public/v1/catalog/images/logo" alt="Nordlys Casino">`)
	require.Contains(t, got.body, `href="?step=gift&amp;gift=truffles"`)
	require.Contains(t, got.body, `href="?step=gift&amp;gift=shirt"`)
	require.NotContains(t, got.body, `gift=vase`, "a gift that is out of stock cannot be chosen")
	require.Contains(t, got.body, "None left")
	require.Contains(t, got.body, "--fill:#1b4b8f;--on-fill:#ffffff")
	require.Equal(t, []string{token}, f.reads)
}

func TestAGiftHasAllItsPicturesInTheirRenditions(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = nil
	list := f.get("")
	require.Contains(t, list.body, `src="`+public+`/catalog/images/t"`)
	require.Contains(t, list.body, public+`/catalog/images/t320 320w"`)
	require.NotContains(t, list.body, "images/second", "the list has one picture of each")
	got := f.get("?step=gift&gift=truffles")
	require.Contains(t, got.body, public+`/catalog/images/t320 320w"`)
	require.Contains(t, got.body, `src="`+public+`/catalog/images/second"`)
	f.page.Gifts[0].Images = []*linksv1.ClaimImage{
		{Url: "https://other.example/a.png"}, {Url: public + "/catalog/images/x", Width: proto.Int32(640)},
	}
	other := f.get("?step=gift&gift=truffles").body
	require.NotContains(t, other, "other.example", "pictures come from the API only")
	require.Contains(t, other, `src="`+public+`/catalog/images/x"`, "without an original")
}

func TestThePageOfAGiftSaysWhatItIs(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = nil
	require.NotContains(t, f.get("?gift=truffles").body, "About this gift")
	f.page.Gifts[0].Details = &catalogv1.GiftDetails{Maker: "Choklad & Co", Size: "20 × 8 cm"}
	page := f.get("?gift=truffles").body
	require.Contains(t, page, "<h2>About this gift</h2>")
	require.Contains(t, page, "<div><dt>Made by</dt><dd><bdi>Choklad &amp; Co</bdi></dd></div>\n"+
		"<div><dt>Dimensions</dt><dd><bdi>20 × 8 cm</bdi></dd></div>")
	require.NotContains(t, page, "Material")
	f.page.Locale, f.page.Gifts[0].Details = "ja-JP", &catalogv1.GiftDetails{Story: "Rolled by hand.\n\nIn <Visby>."}
	require.Contains(t, f.get("?gift=truffles").body,
		`<p class="lines" dir="auto" lang="ja-JP">`+"Rolled by hand.\n\nIn &lt;Visby&gt;.</p>")
	require.NotContains(t, f.get("").body, "Rolled by hand.", "only the page of the gift has it")
}

func TestTheOnlyGiftIsShownAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Gifts, f.page.Message = f.page.GetGifts()[:1], nil
	got := f.get("")
	require.Contains(t, got.body, "A gift for Astrid")
	require.Contains(t, got.body, `<h2 id="gift" dir="auto">Dark truffles</h2>`)
	require.NotContains(t, got.body, "See all gifts")
	f.page.Message = proto.String("Hello")
	require.NotContains(t, f.get("").body, "Dark truffles")
	require.Contains(t, f.get("?step=choose").body, "Dark truffles")
}

func TestAGiftThatCannotBeChosenLeadsToTheList(t *testing.T) {
	t.Parallel()
	for _, gift := range []string{"vase", "other", "%ff"} {
		require.Contains(t, setup(t).get("?gift="+gift).body, "Choose the gift you like best.", gift)
	}
}

func TestALinkWhoseGiftsAreAllOutOfStockHasAMessage(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Gifts, f.page.Message = f.page.GetGifts()[2:], nil
	got := f.get("")
	require.Equal(t, 200, got.Code)
	require.Contains(t, got.body, `Every gift has just been taken.</h2>`)
	require.Contains(t, got.body, `<p class="lead centred">Please check back a little later.</p>`)
	f.page.Gifts = nil
	require.Contains(t, f.get("").body, "Every gift has just been taken.")
}

func TestEveryStateHasItsPage(t *testing.T) {
	t.Parallel()
	for state, want := range map[linksv1.ClaimState]struct {
		status int
		text   string
	}{
		linksv1.ClaimState_CLAIM_STATE_WAITING:     {200, "Your gift is almost ready"},
		linksv1.ClaimState_CLAIM_STATE_CLAIMED:     {200, "This gift has already been chosen"},
		linksv1.ClaimState_CLAIM_STATE_EXPIRED:     {410, "This link has expired"},
		linksv1.ClaimState_CLAIM_STATE_UNSPECIFIED: {503, "We will be right back"},
	} {
		t.Run(state.String(), func(t *testing.T) {
			f := setup(t)
			f.page.State, f.page.Gifts = state, nil
			got := f.get("")
			require.Equal(t, want.status, got.Code)
			require.Contains(t, got.body, want.text)
			require.Contains(t, got.body, "Nordlys Casino")
			require.NotContains(t, got.body, "Astrid", "only players who can still choose see the name")
		})
	}
}

func TestAnUnknownTokenRevealsNothing(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.pageErr = problem.RecordNotFound()
	unknown := f.get("")
	require.Equal(t, 404, unknown.Code)
	require.Contains(t, unknown.body, "We could not find your gift here")
	asked := len(f.reads)
	for _, target := range []string{
		"/c/", "/c/short", "/c/short.", "/c/" + token + "%2fx", "/c/" + token + "%ff", "/c/a%20token-with-a-space",
	} {
		got := f.do(http.MethodGet, target, "")
		require.Equal(t, 404, got.Code, target)
		require.Equal(t, unknown.body, got.body, target)
	}
	require.Len(t, f.reads, asked, "an invalid token is not looked up")
}

func TestAFailureIsReportedInTheLanguageOfTheBrowser(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for name, err := range map[string]error{"down": problem.Unavailable(), "broken": problem.Internal()} {
		t.Run(name, func(t *testing.T) {
			f.pageErr = err
			got := f.do(http.MethodGet, "/c/"+token, "", "Accept-Language", "da;q=0.5, de-AT, en;q=0.3")
			require.Equal(t, 503, got.Code)
			require.Contains(t, got.body, `<html lang="de-AT" dir="ltr">`)
			require.Contains(t, got.body, "Wir sind gleich wieder da")
			require.Contains(t, got.body, "a-request", "the reference for support")
			require.Equal(t, "30", got.Header().Get("Retry-After"))
			require.NotContains(t, f.log.String(), token)
			require.NotEmpty(t, f.log.String())
		})
	}
}

func TestThePageHasTheLocaleOfTheLink(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ locale, lang, content, text string }{
		"German elsewhere": {"de-LI", "de-DE", `dir="auto" lang="de-LI">`, "Ein Geschenk für Astrid"},
		"Arabic":           {"ar-AE", "ar", `dir="rtl"`, "هدية إلى \u2068Astrid &lt;3\u2069"},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.page.Locale, f.page.Message = tc.locale, nil
			got := f.do(http.MethodGet, "/c/"+token, "", "Accept-Language", "sv")
			require.Contains(t, got.body, `<html lang="`+tc.lang+`" dir="`)
			require.Contains(t, got.body, tc.text)
			require.Contains(t, got.body, tc.content)
		})
	}
}

func TestCountriesHaveTheOrderAndLanguageOfTheReader(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Locale = "sv-SE"
	f.page.Gifts[0].Countries = []string{"AX", "SE", "DE", "AT", "GB"}
	got := f.follow(choose("truffles"))
	require.Regexp(t, `(?s)Storbritannien</option>.*selected>Sverige</option>.*Tyskland</option>.*Åland</option>.*Österrike</option>`,
		got.body)

	f.page.Locale = "en-US"
	f.page.Gifts[0].Countries = []string{"US", "SE"}
	require.NotContains(t, f.get("?step=address").body, `selected`, "en-US is only the default locale")
	f.page.Gifts[0].Countries = []string{"US"}
	require.Contains(t, f.get("?step=address").body, `<option value="US" selected>United States</option>`)
}

func TestALogoIsShownOnlyFromTheCatalog(t *testing.T) {
	t.Parallel()
	for address, shown := range map[string]bool{
		"https://gifts.example/api/public/v1/catalog/images/0a": true,
		"http://gifts.example/a.png":                            false,
		"https://gifts.example.evil.example/a.png":              false,
		"https://user:pw@gifts.example/a.png":                   false,
		"javascript:alert(1)":                                   false,
		"":                                                      false,
	} {
		f := setup(t)
		f.page.Brand.LogoUrl = proto.String(address)
		got := f.get("")
		require.Equal(t, 200, got.Code)
		require.Equal(t, shown, strings.Contains(got.body, `class="logo"`), address)
		require.Contains(t, got.Header().Get("Content-Security-Policy"), "img-src 'self' data: https://gifts.example;")
	}
}

func TestAPageIsCompressed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	plain := f.get("")
	require.Empty(t, plain.Header().Get("Content-Encoding"))
	got := f.do(http.MethodGet, "/c/"+token, "", "Accept-Encoding", "br, gzip")
	require.Equal(t, "gzip", got.Header().Get("Content-Encoding"))
	r, err := gzip.NewReader(strings.NewReader(got.body))
	require.NoError(t, err)
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, plain.body, string(content))
	sent := f.do(http.MethodPost, "/c/"+token, choose("truffles").Encode(), "Content-Type", formType, "Accept-Encoding", "gzip")
	require.Equal(t, 303, sent.Code)
	require.Empty(t, sent.Header().Get("Content-Encoding"))
	require.Empty(t, sent.body)
}

func TestEveryPageLeadsToThePagesOfTheBrand(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Brand.Site = &tenantsv1.GiftSite{
		PrivacyUrl: proto.String("https://nordlys.example/privacy"), TermsUrl: proto.String("https://nordlys.example/terms"),
		SupportUrl: proto.String("mailto:vip@nordlys.example"), ImprintUrl: proto.String("https://nordlys.example/imprint"),
		HomeUrl: proto.String("https://nordlys.example/vip"),
	}
	const privacy = `<a href="https://nordlys.example/privacy" rel="noreferrer">`
	greeting, list, gift := f.get("").body, f.get("?step=choose").body, f.get("?step=gift&gift=shirt").body
	f.follow(choose("truffles"))
	review, address := f.follow(filled()).body, f.get("?step=address").body
	thanks := f.follow(f.confirm()).body
	for name, page := range map[string]string{
		"greeting": greeting,
		"list":     list,
		"gift":     gift,
		"address":  address,
		"review":   review,
		"thanks":   thanks,
	} {
		for _, link := range []string{
			privacy + "Privacy", `<a href="https://nordlys.example/terms" rel="noreferrer">Terms`,
			`<a href="mailto:vip@nordlys.example" rel="noreferrer">`, `<a href="https://nordlys.example/imprint" rel="noreferrer">`,
		} {
			require.Contains(t, page, link, name)
		}
	}
	for name, page := range map[string]string{"address": address, "review": review} {
		require.Contains(t, page, privacy+"How Nordlys Casino handles your details", "%s: beside the button that sends personal data",
			name)
	}
	const home = `<a class="quiet" href="https://nordlys.example/vip" rel="noreferrer">Back to Nordlys Casino</a>`
	require.Contains(t, thanks, home)
	for _, state := range []linksv1.ClaimState{linksv1.ClaimState_CLAIM_STATE_WAITING, linksv1.ClaimState_CLAIM_STATE_EXPIRED} {
		f.page.State = state
		require.Contains(t, f.get("").body, home, state)
	}
}

var used = regexp.MustCompile(`\.[TN]\(?\s*"([\w.]+)"`)

func TestEveryTextThatThePagesUseExists(t *testing.T) {
	t.Parallel()
	t1 := read(t).textsFor("en-US")
	var found int
	for _, pattern := range []string{"*.go", "pages/*.tmpl"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, use := range used.FindAllSubmatch(content, -1) {
				require.True(t, t1.Has(string(use[1])), "%s: %s", file, use[1])
				found++
			}
		}
	}
	require.Greater(t, found, 40)
	for _, state := range []string{
		stateThanks, stateClaimed, stateExpired, stateWaiting, stateUnknown, stateFailing, stateLimited, stateRefused,
	} {
		require.True(t, t1.Has(state+".heading"), state)
		require.True(t, t1.Has(state+".text"), state)
	}
	for _, name := range fieldNames {
		require.True(t, t1.Has(name), name)
	}
	for _, state := range orderStates {
		require.True(t, t1.Has(state+".heading"), state)
		require.True(t, t1.Has(state+".text"), state)
	}
	for progress := range orderStates {
		for _, step := range t1.progressSteps(&linksv1.GetClaimedGiftResponse{Progress: progress}) {
			require.True(t, t1.Has("progress."+step.Name), step.Name)
		}
	}
}
