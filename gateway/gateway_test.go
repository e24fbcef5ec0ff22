package gateway_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func TestTheFallbackIsCountedByItsLimiter(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel.Telemetry, Configure: func(cfg *gateway.Config) { cfg.RedisURL = "" }})
	f.Do("GET", "/me", "")
	counts := tel.Values(t, "gifting.gateway.limiter.fallback")
	const cause = "cause=not_configured,limiter="
	require.Positive(t, counts[cause+"key"])
	require.Equal(t, map[string]float64{
		cause + "key": counts[cause+"key"], cause + "images": 0, cause + "visits": 0, cause + "claims": 0,
	}, counts)
}

// visit sends a request to the gift site like a browser, without following redirects.
func visit(t *testing.T, f *gatewaytest.Fixture, method, path, body string) gatewaytest.Answer {
	t.Helper()
	f.NewCaller()
	req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(f.Base, "/api/public/v1")+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Forwarded-For", f.Address)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return f.Send(http.DefaultTransport.RoundTrip, req)
}

const (
	giftPath = "/c/" + gatewaytest.GiftToken
	giftForm = "step=send&gift=truffles&name=Marked+Astrid&street=Storgatan+1&city=Visby&country=SE&phone=%2B46701234567"
)

func TestAPlayerClaimsAGiftWithoutAKey(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	page := visit(t, f, "GET", giftPath, "")
	require.Equal(t, 200, page.Status, page.Body)
	require.Contains(t, page.Body, "Dark truffles")
	require.Contains(t, page.Header.Get("Content-Security-Policy"), "style-src 'sha256-", "the policy of the pages")
	require.Len(t, page.Header.Values("Content-Security-Policy"), 1)
	head := visit(t, f, "HEAD", giftPath, "")
	require.Equal(t, 200, head.Status)
	require.Empty(t, head.Body)
	require.Equal(t, 404, visit(t, f, "GET", "/c/"+strings.Repeat("x", 22), "").Status)
	require.Equal(t, 405, visit(t, f, "DELETE", giftPath, "").Status)
	require.Equal(t, 401, visit(t, f, "GET", "/c", "").Status, "any other path belongs to the API")

	claim := visit(t, f, "POST", giftPath, giftForm)
	require.Equal(t, 303, claim.Status, claim.Body)
	require.Equal(t, giftPath, claim.Header.Get("Location"))
	require.Contains(t, visit(t, f, "GET", giftPath, "").Body, "This gift has already been chosen")
}

func TestAGiftsTokenAndAddressAreInNoLogSpanOrMetric(t *testing.T) {
	t.Parallel()
	log, spans, reader := &gatewaytest.Log{}, tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	tel.Tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	tel.Meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	f := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel})

	require.Equal(t, 200, visit(t, f, "GET", giftPath+"?gift=truffles", "").Status)
	require.Equal(t, 404, visit(t, f, "GET", giftPath+gatewaytest.GiftToken, "").Status)
	require.Equal(t, 404, visit(t, f, "GET", giftPath+"/x", "").Status)
	f.GiftFailure.Store(problem.Internal())
	require.Equal(t, 503, visit(t, f, "GET", giftPath, "").Status)
	require.Equal(t, 503, visit(t, f, "POST", giftPath, giftForm).Status)
	f.GiftFailure.Store(nil)
	require.Equal(t, 303, visit(t, f, "POST", giftPath, giftForm).Status)

	var metrics metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &metrics))
	measured, err := json.Marshal(metrics)
	require.NoError(t, err)
	var traced strings.Builder
	for _, span := range spans.Ended() {
		fmt.Fprintf(&traced, "%s %v %v %v\n", span.Name(), span.Attributes(), span.Events(), span.Status())
	}
	for name, text := range map[string]string{"log": log.String(), "spans": traced.String(), "metrics": string(measured)} {
		require.Contains(t, text, "/c/{token}", name)
		for _, secret := range []string{gatewaytest.GiftToken, "Marked", "Storgatan"} {
			require.NotContains(t, text, secret, name)
		}
	}
}
