package conformance_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func testLimits(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "LIM-1", func(t *testing.T) {
		const limit = 300
		for range limit {
			require.Equal(t, http.StatusOK, f.Send(t, call{Method: http.MethodGet, Path: "/me", Key: f.key}).Status)
		}
		refused := f.Get(t, f.key, "/me")
		refused.Problem(t, "rate_limited")
		seconds, err := strconv.Atoi(refused.Header.Get("Retry-After"))
		require.NoError(t, err)
		require.Positive(t, seconds)
		require.LessOrEqual(t, seconds, 60)
		require.Equal(t, http.StatusOK, f.Get(t, f.newKey(t), "/me").Status, "another key has its own")
	})
}

func testVersions(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "VER-3", func(t *testing.T) {
		tenant, own := f.me(t, f.key)
		for _, name := range []string{"locales", "currency", "approvalRequired", "customFields"} {
			require.Contains(t, tenant, name)
		}
		require.Contains(t, own, "webhookUrl")
		require.Contains(t, f.place(t), "selection")
		require.Contains(t, f.link(t), "selection")
		campaign := f.campaign(t, -1, f.putGift(t, "S"))
		require.Equal(t, http.StatusOK, f.Get(t, f.key, "/campaigns/"+campaign.GetId()+"?locale=sv-SE").Status)
	})
	requirement(t, "VER-4", func(t *testing.T) {
		order := f.place(t)
		event := f.requireEvents(t, f.key, idOf(order), "order.created")[0]
		require.Equal(t, f.read(t, "/me")["environment"], event.Object(t)["environment"])
	})
}
