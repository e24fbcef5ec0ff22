package e2e_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/conformance/harness"
)

// claimForm is the request of a browser from the page of the demo's gift, with one changed field.
func (s stack) claimForm(t *testing.T, address, field, value string) *http.Request {
	t.Helper()
	form := url.Values{
		"step": {"send"}, "gift": {s.Env["GIFTING_PRODUCT_ID"]}, "name": {harness.MarkedName}, "phone": {harness.MarkedPhone},
		"email": {harness.MarkedEmail}, "street": {harness.MarkedStreet}, "city": {"Visby"}, "postalCode": {"621 57"}, "country": {"SE"},
	}
	form.Set(field, value)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	return request
}

// testGiftSite claims a link fifty times concurrently. One order is placed.
func (s stack) testGiftSite(t *testing.T) {
	key := s.DemoKey(t)
	batch := s.Post(t, key, "/personal-links:create-batch", s.Batch(t, func(batch map[string]any) {
		batch["recipients"] = []any{map[string]any{
			"label": harness.MarkedName, "email": harness.MarkedEmail, "message": "Of " + harness.MarkedStreet, "externalRecipientId": "player-1",
		}}
	})).OK(t)
	link, _ := batch["results"].([]any)[0].(map[string]any)["link"].(map[string]any)
	address, _ := link["claimUrl"].(string)
	require.Contains(t, harness.Visit(t, address).Body, "A gift for "+harness.MarkedName)
	for field, wrong := range map[string]string{
		"name": "", "phone": "0701", "street": strings.Repeat("x", 256), "postalCode": "", "email": "@", "country": "",
	} {
		refused := harness.Exchange(t, s.claimForm(t, address, field, wrong))
		require.Equal(t, http.StatusBadRequest, refused.Status, field)
		require.Contains(t, refused.Body, `id="`+field+`-error"`)
		require.Equal(t, 1, strings.Count(refused.Body, `aria-invalid="true"`), field)
	}
	// One link may use up only a part of what its address may send, so some of them are refused.
	statuses := make([]int, 50)
	var group errgroup.Group
	for i := range statuses {
		request := s.claimForm(t, address, "city", "Visby")
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
	require.Greater(t, len(claimed), 5)
	for _, status := range claimed {
		require.Equal(t, http.StatusSeeOther, status)
	}
	list := s.Get(t, key, "/orders?limit=100")
	require.Equal(t, 1, strings.Count(list.Body, `"personalLinkId":"`+link["id"].(string)+`"`))
	page := harness.Visit(t, address)
	require.Contains(t, page.Body, "This gift has already been chosen")
	harness.RequireNoPersonalData(t, page.Body)
}
