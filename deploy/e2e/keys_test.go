package e2e_test

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func (p *platform) testWebhookTest(t *testing.T) {
	p.nearby(t)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(refusing.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()

	t.Run("a receiver that answers 2xx", func(t *testing.T) {
		request := call{method: http.MethodPost, path: "/webhooks:test", key: p.env["GIFTING_KEY_2"], idempotencyKey: rand.Text()}
		a := p.do(t, request)
		require.Equal(t, http.StatusOK, a.status, a.body)
		require.JSONEq(t, `{"responseStatus":204,"error":null}`, a.body)
		again := p.do(t, request)
		require.Equal(t, a.body, again.body)
		require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	})
	t.Run("a receiver that answers another status", func(t *testing.T) {
		out := p.ping(t, p.newKey(t, refusing.URL).GetApiKey())
		require.InDelta(t, http.StatusTeapot, out["responseStatus"], 0)
		require.Contains(t, out["error"], "418")
	})
	t.Run("a receiver that cannot be reached", func(t *testing.T) {
		out := p.ping(t, p.newKey(t, gone.URL).GetApiKey())
		require.Nil(t, out["responseStatus"])
		require.NotEmpty(t, out["error"])
	})
	t.Run("a key without webhook URL", func(t *testing.T) {
		out := p.ping(t, p.env["GIFTING_KEY"])
		require.Nil(t, out["responseStatus"])
		require.Contains(t, out["error"], "no webhook URL")
	})
	t.Run("a test does not stand in the feed", func(t *testing.T) {
		for _, e := range p.feed(t, p.env["GIFTING_KEY_2"]) {
			require.NotEqual(t, "ping", e.Type)
		}
	})
}

func (p *platform) ping(t *testing.T, key string) map[string]any {
	t.Helper()
	a := p.post(t, key, "/webhooks:test", "")
	require.Equal(t, http.StatusOK, a.status, a.body)
	return a.object(t)
}

func (p *platform) testKeys(t *testing.T) {
	t.Run("without a good key nothing is told", func(t *testing.T) {
		for _, key := range []string{"", "nonsense", "gft_live_" + p.env["GIFTING_KEY"][8:], p.env["GIFTING_KEY"] + "x"} {
			for _, path := range []string{"/me", "/nothing"} {
				requireProblem(t, p.get(t, key, path), http.StatusUnauthorized, "invalid_api_key")
			}
		}
	})
	t.Run("a revoked key is refused from the next request on", func(t *testing.T) {
		made := p.newKey(t, "")
		require.Equal(t, http.StatusOK, p.get(t, made.GetApiKey(), "/me").status)
		_, err := p.operations(t).RevokeKey(t.Context(), &tenantsv1.RevokeKeyRequest{KeyId: made.GetKey().GetId()})
		require.NoError(t, err)
		requireProblem(t, p.get(t, made.GetApiKey(), "/me"), http.StatusUnauthorized, "invalid_api_key")
	})
	t.Run("every answer carries the rate limit and a request id", func(t *testing.T) {
		key := p.newKey(t, "").GetApiKey()
		for _, path := range []string{"/me", "/orders?limit=0", "/nothing"} {
			a := p.get(t, key, path)
			require.Contains(t, a.header.Get("RateLimit-Policy"), "q=300")
			require.Contains(t, a.header.Get("RateLimit"), "r=")
			require.Regexp(t, `^[0-9a-f]{32}$`, a.header.Get("Request-Id"))
		}
	})
	t.Run("the request after 300 in a minute is refused, and says when to come back", func(t *testing.T) {
		key := p.newKey(t, "").GetApiKey()
		const limit = 300
		for range limit {
			require.Equal(t, http.StatusOK, p.get(t, key, "/me").status)
		}
		refused := p.get(t, key, "/me")
		requireProblem(t, refused, http.StatusTooManyRequests, "rate_limited")
		seconds, err := strconv.Atoi(refused.header.Get("Retry-After"))
		require.NoError(t, err)
		require.Positive(t, seconds)
		require.LessOrEqual(t, seconds, 60)
	})
}
