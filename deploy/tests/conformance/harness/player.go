package harness

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Player is a browser on the pages of a link. It follows redirects and keeps cookies.
type Player struct {
	*http.Client

	// Address is that of the link.
	Address string
}

// NewPlayer opens a browser for the link at the address.
func NewPlayer(t *testing.T, address string) *Player {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &Player{Client: &http.Client{Jar: jar}, Address: address}
}

// Send sends a form of the link's pages and returns the page to which it redirects.
func (p *Player) Send(t *testing.T, form url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.Address, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := p.Do(request)
	require.NoError(t, err)
	return readPage(t, response)
}

// Get opens a page of the link.
func (p *Player) Get(t *testing.T, query string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.Address+query, nil)
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

// AddressForm is the form of the address.
func AddressForm(phone string) url.Values {
	return url.Values{
		"step": {"address"}, "name": {MarkedName}, "phone": {phone},
		"email": {MarkedEmail}, "street": {MarkedStreet}, "city": {"Visby"}, "postalCode": {"621 57"}, "country": {"SE"},
	}
}

var versionField = regexp.MustCompile(`name="version" value="(\d+)"`)

// Confirmation is the form of the review that the page shows.
func Confirmation(t *testing.T, page string) url.Values {
	t.Helper()
	version := versionField.FindStringSubmatch(page)
	require.Len(t, version, 2, page)
	return url.Values{"step": {"review"}, "version": {version[1]}}
}

// Claim goes through all pages of the link and returns the last one.
func (p *Player) Claim(t *testing.T, product string) string {
	t.Helper()
	p.Send(t, url.Values{"step": {"gift"}, "gift": {product}})
	return p.Send(t, Confirmation(t, p.Send(t, AddressForm(MarkedPhone))))
}
