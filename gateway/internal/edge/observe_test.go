package edge_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// eventually waits for a condition that becomes true after a response.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, gatewaytest.Patience, time.Millisecond)
}

func TestARequestIsItsOwnTrace(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel.Telemetry})
	span := func(name string, a gatewaytest.Answer) (found sdktrace.ReadOnlySpan) {
		eventually(t, func() bool {
			for _, s := range tel.Spans(name) {
				if s.SpanContext().TraceID().String() == a.Header.Get("Request-Id") {
					found = s
				}
			}
			return found != nil
		})
		require.False(t, found.Parent().IsValid())
		return found
	}
	const traceID, spanID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

	t.Run("linked to the trace that the caller sent, without its state", func(t *testing.T) {
		s := span("GET /orders",
			f.Do("GET", "/orders?limit=7", "", "Traceparent", "00-"+traceID+"-"+spanID+"-01", "Tracestate", "marked=x"))
		require.Len(t, s.Links(), 1)
		require.Equal(t, traceID, s.Links()[0].SpanContext.TraceID().String())
		require.Equal(t, spanID, s.Links()[0].SpanContext.SpanID().String())
		require.Zero(t, s.Links()[0].SpanContext.TraceState().Len())
		attributes := telemetrytest.Attributes(s)
		require.Equal(t, "200", attributes["http.response.status_code"])
		require.Equal(t, f.TenantID, attributes["gifting.tenant.id"])
	})
	t.Run("without a link if the caller sent no valid trace", func(t *testing.T) {
		for _, named := range []string{"", "marked", "00-" + traceID + "-0000000000000000-01"} {
			require.Empty(t, span("GET /me", f.Do("GET", "/me", "", "Traceparent", named)).Links())
		}
	})
	t.Run("with an error status if a service failed", func(t *testing.T) {
		f.Failure = problem.Unavailable()
		defer func() { f.Failure = nil }()
		s := span("POST /orders", f.Do("POST", "/orders", `{"externalOrderId":"marked"}`))
		require.Equal(t, codes.Error, s.Status().Code)
		require.Equal(t, "503", telemetrytest.Attributes(s)["error.type"])
	})
	t.Run("with the template of the route and nothing that the caller sent", func(t *testing.T) {
		span("GET none", f.Do("GET", "/marked", ""))
		for _, name := range tel.SpanNames() {
			for _, s := range tel.Spans(name) {
				for key, value := range telemetrytest.Attributes(s) {
					require.NotContains(t, value, "marked", key)
				}
				require.NotContains(t, s.Name(), "marked")
			}
		}
	})
}

func TestIdempotencyKeysAreCountedByOutcome(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel.Telemetry})
	counts := func() map[string]float64 { return tel.Values(t, "gifting.gateway.idempotency.requests") }
	require.Equal(t, map[string]float64{"outcome=new": 0, "outcome=replay": 0, "outcome=mismatch": 0, "outcome=conflict": 0}, counts())

	for _, c := range []struct {
		outcome string
		find    func()
	}{
		{"new", func() {}},
		{"mismatch", func() { f.LookUp = problem.New(problem.IdempotencyKeyReused, "why") }},
		{"conflict", func() { f.LookUp = problem.New(problem.IdempotencyInProgress, "why") }},
		{"replay", func() { f.LookUp, f.Replayed = nil, true }},
	} {
		c.find()
		f.Do("POST", "/orders", `{"externalOrderId":"x"}`)
		eventually(t, func() bool { return counts()["outcome="+c.outcome] == 1 })
	}
	f.Do("GET", "/orders", "")
	f.Do("POST", "/orders", `{"externalOrderId":"x"}`, "Authorization", "Bearer none")
	eventually(t, func() bool {
		const refused = "http.request.method=POST,http.response.status_code=401,http.route=none,url.scheme=http"
		return tel.Values(t, "http.server.request.duration")[refused] == 1
	})
	require.Equal(t, map[string]float64{"outcome=new": 1, "outcome=replay": 1, "outcome=mismatch": 1, "outcome=conflict": 1}, counts())
}

// accessLine returns the line of a request in the access log, which is written after the response.
func accessLine(t *testing.T, log *telemetrytest.Log, requestID string) (found map[string]any) {
	t.Helper()
	eventually(t, func() bool {
		for line := range strings.Lines(log.String()) {
			var entry map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &entry))
			if entry["trace_id"] == requestID && entry["msg"] == "request" {
				found = entry
			}
		}
		return found != nil
	})
	return found
}

func TestTheAccessLogHasOneLinePerRequestAndNothingFromTheCaller(t *testing.T) {
	t.Parallel()
	var log telemetrytest.Log
	tel, err := telemetry.New(t.Context(), "gateway", telemetry.Config{LogLevel: slog.LevelDebug}, &log)
	require.NoError(t, err)
	f := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel})
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
		{
			method: "POST", path: "/orders", body: `{"externalOrderId":"` + marked + `","urgent":"` + marked + `"}`,
			route: "/orders", status: 400,
		},
		{method: "POST", path: "/orders", body: `{"externalOrderId":"` + marked + `"}`, route: "/orders", status: 201},
		{
			method: "POST", path: "/orders",
			headers: []string{"Idempotency-Key", marked, "User-Agent", marked, "Referer", "https://x/" + marked},
			route:   "/orders", status: 400,
		},
		{method: "GET", path: "/" + marked, route: "none", status: 404},
		{method: "GET", path: "/me", headers: []string{"Authorization", "Bearer " + marked}, route: "none", status: 401, keyless: true},
		{
			method: "GET", path: "/catalog/images/" + marked + "?x=" + marked, route: "/catalog/images/{file_id}",
			status: 404, keyless: true,
		},
		{
			method: "GET", path: "/docs?x=" + marked, headers: []string{"Accept-Encoding", "identity"}, route: "/docs",
			status: 200, keyless: true,
		},
	} {
		got := f.Do(tc.method, tc.path, tc.body, tc.headers...)
		line := accessLine(t, &log, got.Header.Get("Request-Id"))
		require.Equal(t, tc.method, line["method"])
		require.Equal(t, tc.route, line["route"])
		require.InDelta(t, tc.status, line["status"], 0, got.Body)
		require.Contains(t, line, "took")
		require.Equal(t, !tc.keyless, line["tenant_id"] == f.TenantID)
		if tc.method != "HEAD" {
			require.InDelta(t, len(got.Body), line["bytes"], 0)
		}
	}
	for _, secret := range []string{marked, f.Key, f.ClientIP} {
		require.NotContains(t, log.String(), secret)
	}
}
