package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// stockLeft gives the units left of a campaign's only SKU, as an integrator reads it.
func (p *platform) stockLeft(t *testing.T, key string, c *catalogv1.PutCampaignRequest) int {
	t.Helper()
	a := p.get(t, key, "/campaigns/"+c.GetId())
	require.Equal(t, http.StatusOK, a.status, a.body)
	var campaign struct {
		Offerings []struct {
			SKUs []struct {
				StockRemaining int `json:"stockRemaining"`
			} `json:"skus"`
		} `json:"offerings"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &campaign))
	return campaign.Offerings[0].SKUs[0].StockRemaining
}

// testStock places five hundred orders for a hundred units at once, over several keys because of the rate limit, and
// cancels them.
func (p *platform) testStock(t *testing.T) {
	const orders, units, keys = 500, 100, 4
	gift := p.putGift(t)
	campaign := p.stockedCampaign(t, gift, units)
	var apiKeys [keys]string
	for i := range apiKeys {
		apiKeys[i] = p.newKey(t, "").GetApiKey()
	}
	body := func() string {
		return p.order(t, func(o map[string]any) {
			delete(o, "brandId")
			o["campaignId"], o["items"] = campaign.GetId(), []any{map[string]any{"productId": gift.GetId()}}
		})
	}

	answers := make([]answer, orders)
	var group errgroup.Group
	for i := range orders {
		request := call{method: http.MethodPost, path: "/orders", key: apiKeys[i%keys], body: body()}
		group.Go(func() error {
			answers[i] = p.send(t, request)
			return nil
		})
	}
	require.NoError(t, group.Wait())
	placed := map[string]string{}
	for i, a := range answers {
		if a.status == http.StatusCreated {
			id, _ := a.object(t)["id"].(string)
			placed[id] = apiKeys[i%keys]
			continue
		}
		requireProblem(t, a, http.StatusConflict, "out_of_stock")
	}
	require.Len(t, placed, units)
	require.Zero(t, p.stockLeft(t, apiKeys[0], campaign))

	for id, key := range placed {
		request := call{method: http.MethodPost, path: "/orders/" + id + ":cancel", key: key, body: `{"reason": "not needed"}`}
		a := p.send(t, request)
		require.Equal(t, http.StatusOK, a.status, a.body)
	}
	require.Eventually(t, func() bool { return p.stockLeft(t, apiKeys[1], campaign) == units }, slow, 100*time.Millisecond)
}
