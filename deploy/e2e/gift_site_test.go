package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// claimForm is what a browser sends from the page of the demo's gift; changes come as name, value pairs.
func (p *platform) claimForm(changes ...string) url.Values {
	form := url.Values{
		"step": {"send"}, "gift": {p.env["GIFTING_PRODUCT_ID"]}, "name": {markedName}, "phone": {markedPhone}, "email": {markedEmail},
		"street": {markedStreet}, "city": {"Visby"}, "postalCode": {"621 57"}, "country": {"SE"},
	}
	for i := 0; i+1 < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return form
}

// browse sends a browser's request and follows no redirect. Without a form it reads the page.
func browse(t *testing.T, address string, form url.Values) (answer, error) {
	t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: string(content)}, err
}

func (p *platform) testGiftSite(t *testing.T) {
	key := p.newKey(t, "").GetApiKey()
	link := p.newLink(t, key, nil)
	address := link["claimUrl"].(string)
	page, err := browse(t, address, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.body, "A gift for "+markedName)

	for field, wrong := range map[string]string{"name": "", "phone": "0701", "street": strings.Repeat("x", 256), "postalCode": "", "email": "@", "country": ""} {
		refused, err := browse(t, address, p.claimForm(field, wrong))
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, refused.status, field)
		require.Contains(t, refused.body, `id="`+field+`-error"`)
		require.Equal(t, 1, strings.Count(refused.body, `aria-invalid="true"`), field)
	}

	var group errgroup.Group
	for range 50 {
		group.Go(func() error {
			claimed, err := browse(t, address, p.claimForm())
			if err == nil && claimed.status != http.StatusSeeOther {
				err = fmt.Errorf("answered %d", claimed.status)
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	list := p.get(t, key, "/orders?limit=100")
	require.Equal(t, 1, strings.Count(list.body, `"personalLinkId":"`+link["id"].(string)+`"`))
	page, err = browse(t, address, nil)
	require.NoError(t, err)
	require.Contains(t, page.body, "This gift has been chosen")
	requireNoPersonalData(t, page.body)
}
