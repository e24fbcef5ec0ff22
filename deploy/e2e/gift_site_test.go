package e2e_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local/seed"
)

// player is a browser that follows redirects and keeps cookies.
type player struct {
	*http.Client

	address string
}

func newPlayer(t *testing.T, address string) *player {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &player{Client: &http.Client{Jar: jar}, address: address}
}

// post makes the request of a form of the link's pages.
func (p *player) post(t *testing.T, form url.Values) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.address, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	return request
}

// send sends a form and returns the page to which it redirects.
func (p *player) send(t *testing.T, form url.Values) string {
	t.Helper()
	response, err := p.Do(p.post(t, form))
	require.NoError(t, err)
	return readPage(t, response)
}

func (p *player) get(t *testing.T, query string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.address+query, nil)
	require.NoError(t, err)
	response, err := p.Do(request)
	require.NoError(t, err)
	return readPage(t, response)
}

func readPage(t *testing.T, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode, string(body))
	return string(body)
}

// addressForm is the form of the address with one changed field.
func addressForm(field, value string) url.Values {
	form := url.Values{
		"step": {"address"}, "name": {harness.MarkedName}, "phone": {harness.MarkedPhone},
		"email": {harness.MarkedEmail}, "street": {harness.MarkedStreet}, "city": {"Visby"}, "postalCode": {"621 57"}, "country": {"SE"},
	}
	form.Set(field, value)
	return form
}

var versionField = regexp.MustCompile(`name="version" value="(\d+)"`)

// confirmation is the form of the review that the page shows.
func confirmation(t *testing.T, page string) url.Values {
	t.Helper()
	version := versionField.FindStringSubmatch(page)
	require.Len(t, version, 2, page)
	return url.Values{"step": {"review"}, "version": {version[1]}}
}

// toReview chooses the demo's gift and enters an address.
func (s stack) toReview(t *testing.T, p *player) url.Values {
	t.Helper()
	p.send(t, url.Values{"step": {"gift"}, "gift": {s.Env["GIFTING_PRODUCT_ID"]}})
	return confirmation(t, p.send(t, addressForm("city", "Visby")))
}

// claimOnSite goes through all pages of a link.
func (s stack) claimOnSite(t *testing.T, address string) string {
	t.Helper()
	p := newPlayer(t, address)
	return p.send(t, s.toReview(t, p))
}

// newGiftLink makes a link and returns it with its address.
func (s stack) newGiftLink(t *testing.T, changes ...func(batch map[string]any)) (id, address string) {
	t.Helper()
	changes = append([]func(map[string]any){func(batch map[string]any) {
		batch["recipients"] = []any{map[string]any{
			"label": harness.MarkedName, "email": harness.MarkedEmail, "message": "Of " + harness.MarkedStreet, "externalRecipientId": "player-1",
		}}
	}}, changes...)
	batch := s.Post(t, s.DemoKey(t), "/personal-links:create-batch", s.Batch(t, changes...)).OK(t)
	link, _ := batch["results"].([]any)[0].(map[string]any)["link"].(map[string]any)
	id, _ = link["id"].(string)
	address, _ = link["claimUrl"].(string)
	return id, address
}

// testGiftSite goes through the pages of a link with wrong input, to the order and a correction.
func (s stack) testGiftSite(t *testing.T) {
	link, address := s.newGiftLink(t)
	require.Contains(t, harness.Visit(t, address).Body, "A gift for "+harness.MarkedName)
	p := newPlayer(t, address)
	p.send(t, url.Values{"step": {"gift"}, "gift": {s.Env["GIFTING_PRODUCT_ID"]}})
	for field, wrong := range map[string]string{
		"name": "", "phone": "0701", "street": strings.Repeat("x", 256), "postalCode": "", "email": "@", "country": "",
	} {
		refused := p.send(t, addressForm(field, wrong))
		require.Contains(t, refused, `id="`+field+`-error"`)
		require.Equal(t, 1, strings.Count(refused, `aria-invalid="true"`), field)
	}
	review := p.send(t, addressForm("phone", "0701 23 45 67"))
	require.Contains(t, review, harness.MarkedStreet)
	require.Contains(t, p.send(t, confirmation(t, review)), "Thank you")
	page := harness.Visit(t, address)
	require.Contains(t, page.Body, "This gift has already been chosen")
	harness.RequireNoPersonalData(t, page.Body)
	order, _ := s.Get(t, s.DemoKey(t), "/personal-links/"+link).OK(t)["orderId"].(string)
	s.testClaimedPage(t, p, order)
	t.Run("again before the first response", s.testRepeatedClaim)
	t.Run("in the words of its language", s.testTranslatedGift)
	t.Run("fifty times at once", s.testConcurrentClaims)
}

// testRepeatedClaim sends the form of the review twice, as clicks in a row do on a slow network: the browser drops the first response
// with its cookies. It sees its order nevertheless.
func (s stack) testRepeatedClaim(t *testing.T) {
	link, address := s.newGiftLink(t)
	p := newPlayer(t, address)
	form := s.toReview(t, p)
	first := p.post(t, form)
	for _, cookie := range p.Jar.Cookies(first.URL) {
		first.AddCookie(cookie)
	}
	dropped, err := http.DefaultTransport.RoundTrip(first)
	require.NoError(t, err)
	require.NoError(t, dropped.Body.Close())
	require.Equal(t, http.StatusSeeOther, dropped.StatusCode)
	page := p.send(t, form)
	order, _ := s.Get(t, s.DemoKey(t), "/personal-links/"+link).OK(t)["orderId"].(string)
	reference, _ := s.Get(t, s.DemoKey(t), "/orders/"+order).OK(t)["reference"].(string)
	require.NotEmpty(t, reference)
	require.Contains(t, page, reference)
	require.Contains(t, page, "Thank you")
}

// testTranslatedGift shows a gift with variations, and the brand's logo.
func (s stack) testTranslatedGift(t *testing.T) {
	const gift = "hooded-sweatshirt"
	for locale, words := range map[string][]string{
		"sv-SE": {"Huvtröja", "Storlek", "Färg", "Svart", "Grön"}, "de-DE": {"Kapuzenpullover", "Größe", "Farbe", "Schwarz", "Grün"},
	} {
		_, address := s.newGiftLink(t, func(batch map[string]any) {
			batch["productIds"] = []any{seed.GiftID(gift)}
			batch["recipients"] = []any{map[string]any{"label": harness.MarkedName, "locale": locale}}
		})
		page := harness.Visit(t, address+"?gift="+seed.GiftID(gift)).Body
		for _, word := range words {
			require.Contains(t, page, word, locale)
		}
		require.NotRegexp(t, `<legend>[^<]*Colour|<b>[^<]*(Black|Green)`, page, locale)
		require.Contains(t, page, `<img class="logo"`)
	}
}

// testConcurrentClaims sends the form of the review many times at once. One order is placed, and its browser sees it.
func (s stack) testConcurrentClaims(t *testing.T) {
	link, address := s.newGiftLink(t)
	p := newPlayer(t, address)
	form := s.toReview(t, p)
	cookies := p.Jar.Cookies(p.post(t, form).URL)
	// One link may use up only a part of what its address may send, so some of them are refused.
	statuses := make([]int, 50)
	var group errgroup.Group
	for i := range statuses {
		request := p.post(t, form)
		for _, cookie := range cookies {
			request.AddCookie(cookie)
		}
		group.Go(func() error {
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				return err
			}
			statuses[i] = response.StatusCode
			return response.Body.Close()
		})
	}
	require.NoError(t, group.Wait())
	claimed := slices.DeleteFunc(statuses, func(status int) bool { return status == http.StatusTooManyRequests })
	require.Greater(t, len(claimed), 10)
	for _, status := range claimed {
		require.Equal(t, http.StatusSeeOther, status)
	}
	require.Contains(t, p.get(t, ""), "Thank you")
	list := s.Get(t, s.DemoKey(t), "/orders?limit=100")
	require.Equal(t, 1, strings.Count(list.Body, `"personalLinkId":"`+link+`"`))
}

// testClaimedPage: only the browser that has claimed the link sees its order, and may correct it.
func (s stack) testClaimedPage(t *testing.T, p *player, orderID string) {
	t.Helper()
	key := s.DemoKey(t)
	order := s.Get(t, key, "/orders/"+orderID).OK(t)
	reference, _ := order["reference"].(string)
	thanks := p.get(t, "")
	require.Contains(t, thanks, reference)
	require.Contains(t, thanks, "Thank you")
	require.Contains(t, thanks, `<img class="picture" src="`, "the gift as the catalog shows it")
	other := harness.Visit(t, p.address).Body
	harness.RequireNoPersonalData(t, other) // Only the browser that typed the address sees it.
	require.NotContains(t, other, reference)
	correct := p.get(t, "?step=correct")
	harness.RequireNoPersonalData(t, newPlayer(t, p.address).get(t, "?step=correct"))
	form := confirmation(t, correct)
	form.Set("step", "correct")
	form.Set("street", harness.MarkedStreet+" B")
	require.Contains(t, newPlayer(t, p.address).send(t, form), "This gift has already been chosen", "of a stranger")
	require.Equal(t, order["version"], s.Get(t, key, "/orders/"+orderID).OK(t)["version"])
	corrected := p.send(t, form)
	require.Contains(t, corrected, "Your delivery details have been corrected.")
	harness.RequireNoPersonalData(t, corrected)
	require.InDelta(t, order["version"].(float64)+1, s.Get(t, key, "/orders/"+orderID).OK(t)["version"], 0)
	require.Contains(t, p.send(t, form), "The delivery details have been changed meanwhile.", "of another tab")
}
