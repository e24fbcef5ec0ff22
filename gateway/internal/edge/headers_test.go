package edge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

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
