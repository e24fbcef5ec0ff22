package e2e_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func (p *platform) promisesOfLimits(t *testing.T) {
	s := p.newShop(t, false)
	t.Run("a key has 300 requests a minute, and the next says when to come back", func(t *testing.T) {
		const limit = 300
		for range limit {
			require.Equal(t, http.StatusOK, s.send(t, call{method: http.MethodGet, path: "/me", key: s.key}).status)
		}
		refused := s.get(t, s.key, "/me")
		requireProblem(t, refused, http.StatusTooManyRequests, "rate_limited")
		seconds, err := strconv.Atoi(refused.header.Get("Retry-After"))
		require.NoError(t, err)
		require.Positive(t, seconds)
		require.LessOrEqual(t, seconds, 60)
		require.Equal(t, http.StatusOK, s.get(t, s.makeKey(t, nil).GetApiKey(), "/me").status, "another key has its own")
	})
}

func (p *platform) promisesOfVersions(t *testing.T) {
	s := p.newShop(t, false)
	t.Run("the fields added within the version are there", func(t *testing.T) {
		tenant, own := s.me(t, s.key)
		for _, name := range []string{"locales", "currency", "approvalRequired", "customFields"} {
			require.Contains(t, tenant, name)
		}
		require.Contains(t, own, "webhookUrl")
		require.Contains(t, s.place(t), "selection")
		require.Contains(t, s.link(t), "selection")
		campaign := s.campaign(t, -1, p.putGift(t, "S"))
		require.Equal(t, http.StatusOK, s.get(t, s.key, "/campaigns/"+campaign.GetId()+"?locale=sv-SE").status)
	})
	t.Run("the environment of GET me and of events is the one in use", func(t *testing.T) {
		order := s.place(t)
		event := s.recorded(t, s.key, idOf(order), "order.created")[0]
		require.Equal(t, s.read(t, "/me")["environment"], answer{body: event.raw}.object(t)["environment"])
	})
}
