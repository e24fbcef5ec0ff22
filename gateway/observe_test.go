package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// soon waits for what is told once an answer has left.
func soon(t *testing.T, told func() bool) {
	t.Helper()
	require.Eventually(t, told, 5*time.Second, time.Millisecond)
}

func TestARequestIsATraceOfItsOwn(t *testing.T) {
	tel := telemetrytest.New()
	b := startBackend(t)
	f := newFixture(t, b, startGateway(t, b, tel.Telemetry, nil))
	span := func(name string, a answer) (found sdktrace.ReadOnlySpan) {
		soon(t, func() bool {
			for _, s := range tel.Spans(name) {
				if s.SpanContext().TraceID().String() == a.header.Get("Request-Id") {
					found = s
				}
			}
			return found != nil
		})
		require.False(t, found.Parent().IsValid())
		return found
	}
	const traceID, spanID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

	t.Run("that links to the one the caller named, without its state", func(t *testing.T) {
		s := span("GET /orders", f.do("GET", "/orders?after=", "", "Traceparent", "00-"+traceID+"-"+spanID+"-01", "Tracestate", "marked=x"))
		require.Len(t, s.Links(), 1)
		require.Equal(t, traceID, s.Links()[0].SpanContext.TraceID().String())
		require.Equal(t, spanID, s.Links()[0].SpanContext.SpanID().String())
		require.Zero(t, s.Links()[0].SpanContext.TraceState().Len())
		attributes := telemetrytest.Attributes(s)
		require.Equal(t, "200", attributes["http.response.status_code"])
		require.Equal(t, b.tenantID, attributes["gifting.tenant.id"])
	})
	t.Run("and to none when it named none", func(t *testing.T) {
		for _, named := range []string{"", "marked", "00-" + traceID + "-0000000000000000-01"} {
			require.Empty(t, span("GET /me", f.do("GET", "/me", "", "Traceparent", named)).Links())
		}
	})
	t.Run("and says a fault of ours by its status", func(t *testing.T) {
		b.fault = problem.Unavailable()
		defer func() { b.fault = nil }()
		s := span("POST /orders", f.do("POST", "/orders", `{"externalOrderId":"marked"}`))
		require.Equal(t, codes.Error, s.Status().Code)
		require.Equal(t, "503", telemetrytest.Attributes(s)["error.type"])
	})
	t.Run("with the route's template and nothing a caller wrote", func(t *testing.T) {
		span("GET none", f.do("GET", "/marked", ""))
		for _, name := range tel.Names() {
			for _, s := range tel.Spans(name) {
				for key, value := range telemetrytest.Attributes(s) {
					require.NotContains(t, value, "marked", key)
				}
				require.NotContains(t, s.Name(), "marked")
			}
		}
	})
}

func TestKeysAreCountedByWhatTheyWereFoundToBe(t *testing.T) {
	tel := telemetrytest.New()
	b := startBackend(t)
	f := newFixture(t, b, startGateway(t, b, tel.Telemetry, nil))
	counts := func() map[string]float64 { return tel.Values(t, "gifting.gateway.idempotency.requests") }
	require.Equal(t, map[string]float64{"outcome=new": 0, "outcome=replay": 0, "outcome=mismatch": 0, "outcome=conflict": 0}, counts())

	for _, c := range []struct {
		outcome string
		find    func()
	}{
		{"new", func() {}},
		{"mismatch", func() { b.lookup = problem.New(problem.IdempotencyKeyReused, "why") }},
		{"conflict", func() { b.lookup = problem.New(problem.IdempotencyInProgress, "why") }},
		{"replay", func() { b.lookup, b.replayed = nil, true }},
	} {
		c.find()
		f.do("POST", "/orders", `{"externalOrderId":"x"}`)
		soon(t, func() bool { return counts()["outcome="+c.outcome] == 1 })
	}
	f.do("GET", "/orders", "")
	f.do("POST", "/orders", `{"externalOrderId":"x"}`, "Authorization", "Bearer none")
	soon(t, func() bool {
		const refused = "http.request.method=POST,http.response.status_code=401,http.route=none,url.scheme=http"
		return tel.Values(t, "http.server.request.duration")[refused] == 1
	})
	require.Equal(t, map[string]float64{"outcome=new": 1, "outcome=replay": 1, "outcome=mismatch": 1, "outcome=conflict": 1}, counts())
}

func TestTheFallbackIsCountedByItsLimiter(t *testing.T) {
	tel := telemetrytest.New()
	b := startBackend(t)
	f := newFixture(t, b, startGateway(t, b, tel.Telemetry, func(cfg *gateway.Config) { cfg.RedisURL = "" }))
	f.do("GET", "/me", "")
	counts := tel.Values(t, "gifting.gateway.limiter.fallback")
	require.Positive(t, counts["limiter=key"])
	require.Equal(t, map[string]float64{
		"limiter=key": counts["limiter=key"], "limiter=images": 0, "limiter=visits": 0, "limiter=claims": 0,
	}, counts)
}
