package gateway_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestEveryAnswerTellsABrowserToKeepItsHandsOff(t *testing.T) {
	f := setup(t)
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
		got := f.do(request.method, request.path, "").header
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

func TestBehindHTTPSABrowserIsToldToStayWithIt(t *testing.T) {
	b := startBackend(t)
	f := newFixture(t, b, startGateway(t, b, telemetry.Discard(), func(cfg *gateway.Config) {
		cfg.PublicURL = "https://api.example.com/api/public/v1"
	}))
	for _, path := range []string{"/me", "/nothing", "/docs", "/catalog/images/known"} {
		require.Equal(t, "max-age=31536000", f.do("GET", path, "").header.Get("Strict-Transport-Security"), path)
	}
}

// logbook keeps the lines of a log.
type logbook struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(p)
}

func (l *logbook) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}

// of gives the access line of a request, once it has been written: that is after its answer.
func (l *logbook) of(t *testing.T, requestID string) map[string]any {
	t.Helper()
	var found map[string]any
	require.Eventually(t, func() bool {
		for line := range strings.Lines(l.text()) {
			var entry map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &entry))
			if entry["trace_id"] == requestID && entry["msg"] == "request" {
				found = entry
			}
		}
		return found != nil
	}, 5*time.Second, time.Millisecond)
	return found
}

func TestTheAccessLogHasOneLinePerRequestAndNothingTheCallerWrote(t *testing.T) {
	var book logbook
	tel, err := telemetry.New(t.Context(), "gateway", telemetry.Config{LogLevel: slog.LevelDebug}, &book)
	require.NoError(t, err)
	b := startBackend(t)
	f := newFixture(t, b, startGateway(t, b, tel, nil))
	const marked = "Marked-Ann-Berg"
	for _, tc := range []struct {
		method, path, body, route string
		headers                   []string
		status                    float64
		keyless                   bool
	}{
		{method: "GET", path: "/me", route: "/me", status: 200},
		{method: "HEAD", path: "/orders?externalRecipientId=" + marked, route: "/orders", status: 200},
		{method: "GET", path: "/orders?after=" + marked + "&limit=" + marked, route: "/orders", status: 400},
		{method: "GET", path: "/orders/" + marked, route: "/orders/{order_id}", status: 500},
		{method: "POST", path: "/orders", body: `{"externalOrderId":"` + marked + `","urgent":"` + marked + `"}`, route: "/orders", status: 400},
		{method: "POST", path: "/orders", body: `{"externalOrderId":"` + marked + `"}`, route: "/orders", status: 201},
		{method: "POST", path: "/orders", headers: []string{"Idempotency-Key", marked, "User-Agent", marked, "Referer", "https://x/" + marked}, route: "/orders", status: 400},
		{method: "GET", path: "/" + marked, route: "none", status: 404},
		{method: "GET", path: "/me", headers: []string{"Authorization", "Bearer " + marked}, route: "none", status: 401, keyless: true},
		{method: "GET", path: "/catalog/images/" + marked + "?x=" + marked, route: "/catalog/images/{file_id}", status: 404, keyless: true},
		{method: "GET", path: "/docs?x=" + marked, route: "/docs", status: 200, keyless: true},
	} {
		got := f.do(tc.method, tc.path, tc.body, tc.headers...)
		line := book.of(t, got.header.Get("Request-Id"))
		require.Equal(t, tc.method, line["method"])
		require.Equal(t, tc.route, line["route"])
		require.InDelta(t, tc.status, line["status"], 0, got.body)
		require.Contains(t, line, "took")
		require.Equal(t, !tc.keyless, line["tenant_id"] == b.tenantID)
		if tc.method != "HEAD" {
			require.InDelta(t, len(got.body), line["bytes"], 0)
		}
	}
	log := book.text()
	require.NotContains(t, log, marked)
	require.NotContains(t, log, f.key)
	require.NotContains(t, log, f.address)
}
