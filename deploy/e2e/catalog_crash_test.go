//go:build faults

package e2e_test

import (
	"encoding/json"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStockIsExactAfterKills kills the whole platform at random moments while orders are placed and cancelled. Within a
// minute of its return, what is left of the stock and what the orders hold add up again.
func TestStockIsExactAfterKills(t *testing.T) {
	const rounds, ordersEach, units = 3, 40, 70
	cfg := newConfig(t)
	binary := buildPlatform(t)
	running := startChild(t, binary, cfg)
	p := &platform{config: cfg, env: readEnv(t, cfg)}
	gift := p.putGift(t)
	campaign := p.stockedCampaign(t, gift, units)
	key := p.newKey(t, "").GetApiKey()
	for range rounds {
		var requests []*http.Request
		for range ordersEach {
			requests = append(requests, p.request(t, call{method: http.MethodPost, path: "/orders", key: key, body: p.order(t, func(o map[string]any) {
				delete(o, "brandId")
				o["campaignId"], o["items"] = campaign.GetId(), []any{map[string]any{"productId": gift.GetId()}}
			})}))
		}
		for _, id := range p.held(t, key, campaign.GetId()) {
			if mathrand.IntN(3) == 0 {
				requests = append(requests, p.request(t, call{
					method: http.MethodPost, path: "/orders/" + id + ":cancel", key: key, body: `{"reason": "not needed"}`,
				}))
			}
		}
		fired := time.AfterFunc(time.Duration(100+mathrand.IntN(700))*time.Millisecond, func() {
			_ = running.command.Process.Signal(syscall.SIGKILL)
		})
		answered := sendAll(requests)
		fired.Stop()
		_ = running.end(t, syscall.SIGKILL)
		t.Logf("%d of %d requests were answered", answered, len(requests))
		running = startChild(t, binary, cfg)
	}
	t.Logf("%d units held", len(p.held(t, key, campaign.GetId())))
	require.Eventually(t, func() bool {
		return p.stockLeft(t, key, campaign)+len(p.held(t, key, campaign.GetId())) == units
	}, time.Minute, time.Second, "stock that is left and stock that orders hold must add up")
	require.NoError(t, running.end(t, syscall.SIGINT))
}

// held gives the orders that hold a unit of the campaign.
func (p *platform) held(t *testing.T, key, campaignID string) (ids []string) {
	t.Helper()
	path := "/orders?limit=100"
	for {
		a := p.send(t, call{method: http.MethodGet, path: path, key: key})
		require.Equal(t, http.StatusOK, a.status, a.body)
		var page struct {
			Items []struct {
				ID         string  `json:"id"`
				CampaignID *string `json:"campaignId"`
				Status     string  `json:"status"`
			} `json:"items"`
			NextCursor *string `json:"nextCursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &page))
		for _, o := range page.Items {
			if o.CampaignID != nil && *o.CampaignID == campaignID && o.Status != "CANCELLED" {
				ids = append(ids, o.ID)
			}
		}
		if page.NextCursor == nil {
			return ids
		}
		path = "/orders?limit=100&after=" + *page.NextCursor
	}
}

// sendAll sends the requests at once and counts those that were answered before the platform died.
func sendAll(requests []*http.Request) (answered int) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	done := make([]bool, len(requests))
	var all sync.WaitGroup
	for i, request := range requests {
		all.Go(func() {
			response, err := client.Do(request)
			if err != nil {
				return
			}
			_, err = io.Copy(io.Discard, response.Body)
			done[i] = err == nil && response.StatusCode < http.StatusInternalServerError
			_ = response.Body.Close()
		})
	}
	all.Wait()
	for _, ok := range done {
		if ok {
			answered++
		}
	}
	return answered
}
