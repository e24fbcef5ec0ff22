package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
)

type campaignPage struct {
	Items []struct {
		ID      string `json:"id"`
		BrandID string `json:"brandId"`
		Status  string `json:"status"`
	} `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

func (p *platform) campaigns(t *testing.T, key, query string) campaignPage {
	t.Helper()
	a := p.get(t, key, "/campaigns"+query)
	require.Equal(t, http.StatusOK, a.status, a.body)
	var page campaignPage
	require.NoError(t, json.Unmarshal([]byte(a.body), &page))
	return page
}

func (p *platform) testCampaigns(t *testing.T) {
	key, id := p.env["GIFTING_KEY"], seed.Campaign
	t.Run("GET /campaigns lists summaries by brand and status", func(t *testing.T) {
		for _, query := range []string{"", "?limit=100", "?status=ACTIVE", "?brandId=" + seed.Brand} {
			page := p.campaigns(t, key, query)
			found := false
			for _, c := range page.Items {
				found = found || c.ID == id && c.BrandID == seed.Brand && c.Status == "ACTIVE"
			}
			require.True(t, found, query)
		}
		require.Empty(t, p.campaigns(t, key, "?brandId="+uuid.NewString()).Items)
		for _, c := range p.campaigns(t, key, "?status=COMPLETED&limit=100").Items {
			require.Equal(t, "COMPLETED", c.Status)
		}
	})
	t.Run("GET /campaigns names a faulty parameter", func(t *testing.T) {
		for query, fault := range map[string]string{
			"?status=RUNNING": "status invalid", "?brandId=x": "brandId invalid", "?limit=0": "limit invalid", "?after=x": "after invalid",
		} {
			problem := requireProblem(t, p.get(t, key, "/campaigns"+query), http.StatusBadRequest, "invalid_request")
			require.Equal(t, []string{fault}, faults(t, problem))
		}
	})
	t.Run("GET /campaigns/{campaignId} has the offerings in the locale", func(t *testing.T) {
		a := p.get(t, key, "/campaigns/"+id+"?locale=sv-SE")
		require.Equal(t, http.StatusOK, a.status, a.body)
		var campaign struct {
			Status    string  `json:"status"`
			ExpiresAt *string `json:"expiresAt"`
			Offerings []struct {
				ProductID  string `json:"productId"`
				SupplyType string `json:"supplyType"`
				Images     []struct {
					URL string `json:"url"`
				} `json:"images"`
				SKUs []struct {
					ID             string            `json:"id"`
					Variations     map[string]string `json:"variations"`
					StockRemaining *int32            `json:"stockRemaining"`
				} `json:"skus"`
			} `json:"offerings"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &campaign))
		require.Equal(t, "ACTIVE", campaign.Status)
		require.Nil(t, campaign.ExpiresAt)
		require.NotEmpty(t, campaign.Offerings)
		for _, o := range campaign.Offerings {
			require.NotEmpty(t, o.SKUs)
			for _, sku := range o.SKUs {
				require.Equal(t, o.SupplyType == "STOCKED", sku.StockRemaining != nil, "stock of %s", sku.ID)
			}
			require.NotEmpty(t, o.Images)
			open, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.Images[0].URL, http.NoBody)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, exchange(t, open).status, "images open without a key")
		}
		problem := requireProblem(t, p.get(t, key, "/campaigns/"+id+"?locale=xx-XX"), http.StatusBadRequest, "invalid_request")
		require.Equal(t, []string{"locale not_enabled"}, faults(t, problem))
	})
	t.Run("a campaign out of reach does not exist", func(t *testing.T) {
		other := p.newKey(t, "", p.brandOf(t, key)).GetApiKey()
		for _, c := range []call{
			{method: http.MethodGet, key: p.env["GIFTING_KEY_APPROVAL"], path: "/campaigns/" + id},
			{method: http.MethodGet, key: other, path: "/campaigns/" + id},
			{method: http.MethodGet, key: key, path: "/campaigns/" + uuid.NewString()},
			{method: http.MethodGet, key: key, path: "/campaigns/none"},
		} {
			requireProblem(t, p.do(t, c), http.StatusNotFound, "not_found")
		}
		for _, c := range p.campaigns(t, other, "?limit=100").Items {
			require.NotEqual(t, seed.Brand, c.BrandID)
		}
	})
}
