package e2e_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
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

// send sends a form of the link's pages and returns the page to which it redirects.
func (p *player) send(t *testing.T, form url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.address, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := p.Do(request)
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

// addressForm is the form of the address.
func addressForm(phone string) url.Values {
	return url.Values{
		"step": {"address"}, "name": {harness.MarkedName}, "phone": {phone},
		"email": {harness.MarkedEmail}, "street": {harness.MarkedStreet}, "city": {"Visby"}, "postalCode": {"621 57"}, "country": {"SE"},
	}
}

var versionField = regexp.MustCompile(`name="version" value="(\d+)"`)

// confirmation is the form of the review that the page shows.
func confirmation(t *testing.T, page string) url.Values {
	t.Helper()
	version := versionField.FindStringSubmatch(page)
	require.Len(t, version, 2, page)
	return url.Values{"step": {"review"}, "version": {version[1]}}
}

// claimOnSite goes through all pages of a link.
func (s stack) claimOnSite(t *testing.T, address string) string {
	t.Helper()
	p := newPlayer(t, address)
	p.send(t, url.Values{"step": {"gift"}, "gift": {s.Env["GIFTING_PRODUCT_ID"]}})
	return p.send(t, confirmation(t, p.send(t, addressForm(harness.MarkedPhone))))
}

// newGiftLink makes a link and returns it with its address.
func (s stack) newGiftLink(t *testing.T) (id, address string) {
	t.Helper()
	batch := s.Post(t, s.DemoKey(t), "/personal-links:create-batch", s.Batch(t, func(batch map[string]any) {
		batch["recipients"] = []any{map[string]any{
			"label": harness.MarkedName, "email": harness.MarkedEmail, "message": "Of " + harness.MarkedStreet,
			"externalRecipientId": "player-1",
		}}
	})).OK(t)
	link, _ := batch["results"].([]any)[0].(map[string]any)["link"].(map[string]any)
	id, _ = link["id"].(string)
	address, _ = link["claimUrl"].(string)
	return id, address
}

// testGiftSite goes through the pages of a link, with a wrong phone number once, to the order and a correction.
func (s stack) testGiftSite(t *testing.T) {
	link, address := s.newGiftLink(t)
	require.Contains(t, harness.Visit(t, address).Body, "A gift for "+harness.MarkedName)
	p := newPlayer(t, address)
	p.send(t, url.Values{"step": {"gift"}, "gift": {s.Env["GIFTING_PRODUCT_ID"]}})
	require.Contains(t, p.send(t, addressForm("0701")), `id="phone-error"`)
	review := p.send(t, addressForm("0701 23 45 67"))
	require.Contains(t, review, harness.MarkedStreet)
	require.Contains(t, p.send(t, confirmation(t, review)), "Thank you")
	page := harness.Visit(t, address)
	require.Contains(t, page.Body, "This gift has already been chosen")
	harness.RequireNoPersonalData(t, page.Body)
	order, _ := s.Get(t, s.DemoKey(t), "/personal-links/"+link).OK(t)["orderId"].(string)
	s.testClaimedPage(t, p, order)
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
	require.Contains(t, corrected, harness.MarkedStreet+" B", "in the browser that typed it")
	harness.RequireNoPersonalData(t, harness.Visit(t, p.address).Body)
	require.Contains(t, p.send(t, form), "Your delivery details have been corrected.", "the button was pressed twice")
	require.InDelta(t, order["version"].(float64)+1, s.Get(t, key, "/orders/"+orderID).OK(t)["version"], 0)
	form.Set("street", harness.MarkedStreet+" C")
	require.Contains(t, p.send(t, form), "The delivery details have been changed meanwhile.", "of another tab")
}
