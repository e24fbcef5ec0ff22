package edge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
)

func TestAPOSTReachesItsServiceWithThePrincipal(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	got := f.Do("POST", "/orders", `{"externalOrderId":"o-1"}`, "Idempotency-Key", `"k-1"`)
	require.Equal(t, 201, got.Status, got.Body)
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, "o-1", got.Parsed["externalOrderId"])
	require.Contains(t, got.Parsed, "campaignId")
	require.Nil(t, got.Parsed["campaignId"])
	require.Equal(t, "k-1", f.Seen.IdempotencyKey)
	require.Len(t, f.Seen.Fingerprint, 32)
	require.Equal(t, got.Header.Get("Request-Id"), f.Seen.ID)
	require.Empty(t, f.Headers.Get("authorization"), "the key is not passed on")
	require.Empty(t, f.Headers.Get("grpcgateway-authorization"))
	require.Regexp(t, `^"key";q=300;w=60$`, got.Header.Get("RateLimit-Policy"))
	require.Regexp(t, `^"key";r=\d+;t=\d+$`, got.Header.Get("RateLimit"))
}

func TestNoHeaderOfTheCallerSetsADeadline(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for _, timeout := range []string{"x", "1n", "1m"} {
		require.Equal(t, 200, f.Do("GET", "/me", "", "Grpc-Timeout", timeout).Status)
	}
}

func TestInvalidKeysAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	good := f.Key
	f.Key = "wrong"
	for range 60 {
		require.Equal(t, 401, f.Do("GET", "/me", "").Status)
	}
	require.Equal(t, 429, f.Do("GET", "/me", "").Status)
	f.Key = good
	require.Equal(t, 200, f.Do("GET", "/me", "").Status, "a key that has worked keeps working")
}

func TestEveryResponseIsProtectedInABrowser(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for _, request := range []struct{ method, path, cache string }{
		{"GET", "/me", "no-store"},
		{"GET", "/orders?limit=x", "no-store"},
		{"POST", "/orders", "no-store"},
		{"GET", "/nothing", "no-store"},
		{"GET", "/catalog/images/other", "no-store"},
		{"GET", "/catalog/images/known", "public, max-age=31536000, immutable"},
		{"GET", "/docs", "no-cache"},
		{"GET", "/openapi.json", "no-cache"},
	} {
		got := f.Do(request.method, request.path, "").Header
		require.Equal(t, "nosniff", got.Get("X-Content-Type-Options"), request.path)
		require.Equal(t, "no-referrer", got.Get("Referrer-Policy"), request.path)
		require.Contains(t, got.Get("Content-Security-Policy"), "default-src 'none'", request.path)
		require.Contains(t, got.Get("Content-Security-Policy"), "frame-ancestors 'none'", request.path)
		require.Equal(t, request.cache, got.Get("Cache-Control"), request.path)
		require.Regexp(t, "^[0-9a-f]{32}$", got.Get("Request-Id"), request.path)
		require.Empty(t, got.Get("Strict-Transport-Security"), "over plain HTTP a browser would ignore it")
		for name := range got {
			require.NotContains(t, []string{"Server", "X-Powered-By", "Via", "Trailer"}, name)
			require.False(t, strings.HasPrefix(name, "Grpc-"), name)
		}
	}
}

func TestBehindHTTPSABrowserIsToldToUseOnlyHTTPS(t *testing.T) {
	t.Parallel()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) {
		cfg.PublicURL = "https://api.example.com/api/public/v1"
	}})
	for _, path := range []string{"/me", "/nothing", "/docs", "/catalog/images/known"} {
		require.Equal(t, "max-age=31536000", f.Do("GET", path, "").Header.Get("Strict-Transport-Security"), path)
	}
}

func TestAKeyIsClaimedBeforeAServiceOtherThanOrdersIsCalled(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	require.Equal(t, 200, f.Do("POST", "/webhooks:test", "{}", "Idempotency-Key", "k").Status)
	require.Equal(t, []string{"claim", "call"}, f.Notes())
	claim := f.Claim
	require.Positive(t, claim.GetKeyId())
	require.Equal(t, "k", claim.GetIdempotencyKey())
	require.Equal(t, "gifting.webhook.v1", claim.GetOwner())
	require.Len(t, claim.GetFingerprint(), 32)

	t.Run("orders claims its keys itself", func(t *testing.T) {
		require.Equal(t, 201, f.Do("POST", "/orders", `{"externalOrderId":"o"}`).Status)
		require.Empty(t, f.Notes())
	})
	t.Run("a request that the edge refuses claims nothing", func(t *testing.T) {
		for status, headers := range map[int][]string{
			400: {"Idempotency-Key", ""}, 401: {"Authorization", "Bearer x"},
			406: {"Accept", "text/html"}, 415: {"Content-Type", "text/plain"},
		} {
			require.Equal(t, status, f.Do("POST", "/webhooks:test", "{}", headers...).Status)
		}
		require.Equal(t, 413, f.Do("POST", "/webhooks:test", strings.Repeat(" ", 10<<20+1)).Status)
		require.Empty(t, f.Notes())
	})
}

func TestWithoutAClaimNoServiceIsCalled(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	f.ClaimFailure = problem.New(problem.IdempotencyKeyReused, "x")
	require.Equal(t, "idempotency_key_reused", f.Do("POST", "/webhooks:test", "{}").Parsed["code"])
	require.Equal(t, []string{"claim"}, f.Notes())
}

func TestTheConsoleIsInTheSandboxOnly(t *testing.T) {
	t.Parallel()
	root := func(f *gatewaytest.Fixture) *gatewaytest.Fixture {
		f.BaseURL = strings.TrimSuffix(f.BaseURL, "/api/public/v1")
		return f
	}
	sandbox := root(gatewaytest.New(t))
	require.Equal(t, 200, sandbox.Do("GET", "/sandbox", "", "Authorization", "").Status)
	production := root(gatewaytest.NewWith(t,
		gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.Environment = apikey.Production }}))
	for _, path := range []string{"/sandbox", "/sandbox/app.js", "/unknown"} {
		require.Equal(t, 404, production.Do("GET", path, "", "Authorization", "").Status)
		require.Equal(t, 404, production.Do("GET", path, "").Status)
	}
	require.Equal(t, 404, sandbox.Do("GET", "/sandboxes", "", "Authorization", "").Status)
	require.Equal(t, 404, production.Do("POST", "/api/public/v1/sandbox/orders/an-order:approve", "{}").Status)
}
