package giftsite

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

const formType = "application/x-www-form-urlencoded"

func TestEveryResponseIsProtected(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.review()
	missing := setup(t)
	missing.pageErr = problem.RecordNotFound()
	failing := setup(t)
	failing.pageErr = problem.Unavailable()
	for name, got := range map[string]answer{
		"the list": f.get(""), "a gift": f.get("?gift=shirt"), "a redirect": f.send(filled()), "an unknown token": missing.get(""),
		"a failure": failing.get(""), "another method": f.do(http.MethodPut, "/c/"+token, ""),
	} {
		t.Run(name, func(t *testing.T) {
			header := got.Header()
			require.Equal(t, "no-store", header.Get("Cache-Control"))
			require.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
			require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
			require.Equal(t, "DENY", header.Get("X-Frame-Options"))
			require.Equal(t, "noindex, nofollow", header.Get("X-Robots-Tag"))
			policy := header.Get("Content-Security-Policy")
			require.Contains(t, policy, "default-src 'none'")
			require.Contains(t, policy, "frame-ancestors 'none'")
			require.NotContains(t, policy, "unsafe")
			require.NotContains(t, got.body, token, "a page that is stored or shared does not contain the token")
			requireOnlyOurScript(t, got.body)
			require.NotContains(t, got.body, f.nonce)
			require.NotContains(t, got.body, " style=")
			if got.body != "" {
				require.Contains(t, policy, "form-action 'self'")
				require.Contains(t, policy, "base-uri 'none'")
				require.Contains(t, policy, "script-src 'self';", "links may have another host than the API")
				requireStylesAllowed(t, policy, got.body)
			}
		})
	}
}

// requireOnlyOurScript checks that no text of the page became a script.
func requireOnlyOurScript(t *testing.T, body string) {
	t.Helper()
	require.NotContains(t, strings.Replace(body, `<script src="`+scriptPath+`" defer></script>`, "", 1), "<script")
}

var styleElement = regexp.MustCompile(`(?s)<style>(.*?)</style>`)

func requireStylesAllowed(t *testing.T, policy, body string) {
	t.Helper()
	styles := styleElement.FindAllStringSubmatch(body, -1)
	require.Len(t, styles, 1)
	for _, style := range styles {
		require.Contains(t, policy, hashOf(style[1]))
	}
}

func TestOnlyGETHEADAndPOSTAreAllowed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, "BREW"} {
		got := f.do(method, "/c/"+token, "")
		require.Equal(t, 405, got.Code)
		require.Equal(t, "GET, HEAD, POST", got.Header().Get("Allow"))
	}
	require.Equal(t, 200, f.do(http.MethodHead, "/c/"+token, "").Code)
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		headers []string
		status  int
	}{
		"the site's own page":               {[]string{"Sec-Fetch-Site", "same-origin", "Origin", "null"}, 303},
		"an address typed by hand":          {[]string{"Sec-Fetch-Site", "none"}, 303},
		"a browser without Sec-Fetch-Site":  {[]string{"Origin", "null"}, 303},
		"an old browser with an origin":     {[]string{"Origin", "https://gifts.example"}, 303},
		"no browser":                        {nil, 303},
		"another site":                      {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		"another site without an origin":    {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "null"}, 403},
		"a neighbour of the same domain":    {[]string{"Sec-Fetch-Site", "same-site", "Origin", "https://other.gifts.example"}, 403},
		"another site with an old browser":  {[]string{"Origin", "https://evil.example"}, 403},
		"another port with the same server": {[]string{"Origin", "https://gifts.example:8443"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			got := f.do(http.MethodPost, "/c/"+token, filled().Encode(), append(tc.headers, "Content-Type", formType)...)
			require.Equal(t, tc.status, got.Code)
			require.Len(t, f.saves, map[int]int{303: 1, 403: 0}[tc.status])
		})
	}
}

func TestAPOSTThatIsNotAFormIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body, media string
		status      int
	}{
		"JSON":              {`{}`, "application/json", 415},
		"a multipart form":  {"", "multipart/form-data; boundary=x", 415},
		"no type":           {"step=address", "", 415},
		"a broken type":     {"step=address", "application/x-www-form-urlencoded; =", 415},
		"too large":         {"name=" + strings.Repeat("a", maxForm), formType, 413},
		"a broken encoding": {"name=%zz", formType, 400},
		"with a charset":    {filled().Encode(), formType + "; charset=UTF-8", 303},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			require.Equal(t, tc.status, f.do(http.MethodPost, "/c/"+token, tc.body, "Content-Type", tc.media).Code)
		})
	}
	t.Run("compressed", func(t *testing.T) {
		got := setup(t).do(http.MethodPost, "/c/"+token, "x", "Content-Type", formType, "Content-Encoding", "gzip")
		require.Equal(t, 415, got.Code)
	})
}

func TestAnAddressHasItsLimits(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for i := range maxVisits {
		require.Equal(t, 200, f.do(http.MethodGet, "/c/"+another(i), "").Code)
	}
	got := f.do(http.MethodGet, "/c/"+token, "", "Accept-Language", "sv")
	require.Equal(t, 429, got.Code)
	require.Contains(t, got.body, "Ett ögonblick")
	require.Regexp(t, `^\d+$`, got.Header().Get("Retry-After"))

	for i := range maxClaims {
		require.Equal(t, 303, f.sendTo(another(i), filled()).Code)
	}
	require.Equal(t, 429, f.send(filled()).Code)
	require.Len(t, f.saves, maxClaims)
}

func TestALinkUsesUpOnlyAPartOfTheLimitsOfItsAddress(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range maxLinkVisits {
		require.Equal(t, 200, f.get("").Code)
	}
	for range maxLinkClaims {
		require.Equal(t, 303, f.send(filled()).Code)
	}
	for range 2 * maxVisits {
		require.Equal(t, 429, f.get("").Code)
		refused := f.send(filled())
		require.Equal(t, 429, refused.Code)
		require.Equal(t, filled(), refused.again())
	}
	require.Equal(t, 200, f.do(http.MethodGet, "/c/"+another(0), "").Code)
	require.Equal(t, 303, f.sendTo(another(0), filled()).Code)
}

func TestGuessingTokensIsLimited(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.exhaust()
	require.Len(t, f.reads, lookupBurst)
	for i := range 5 * maxVisits {
		got := f.guess(http.MethodGet, lookupBurst+i)
		require.Equal(t, 429, got.Code)
		require.Equal(t, "1", got.Header().Get("Retry-After"))
	}
	require.Len(t, f.reads, lookupBurst)
	f.now = f.now.Add(lookupEvery)
	require.Equal(t, 404, f.guess(http.MethodGet, 0).Code)
	require.Equal(t, 429, f.guess(http.MethodGet, 0).Code)
	require.Len(t, f.reads, lookupBurst+1)
}

func TestWhatAMailProgramAddsToTheAddressIsLeftOut(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, behind := range []string{"/", ".", ").", "%3E", ",", "%20", "%E2%80%9D"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			got := f.do(method, "/c/"+token+behind, "")
			require.Equal(t, 301, got.Code, behind)
			require.Equal(t, "/c/"+token, got.Header().Get("Location"))
			require.Equal(t, "no-store", got.Header().Get("Cache-Control"))
		}
		require.Equal(t, 404, f.do(http.MethodPost, "/c/"+token+behind, choose("truffles").Encode(), "Content-Type", formType).Code)
	}
	require.Empty(t, f.reads, "it is the same for a token that has no link")
	require.Equal(t, 200, f.do(http.MethodGet, f.get("/").Header().Get("Location"), "").Code)
}
