package gateway_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
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
	f := gatewaytest.NewWith(t,
		gatewaytest.Options{Telemetry: tel.Telemetry, Configure: func(cfg *gateway.Config) { cfg.RedisURL = "" }})
	f.Do("GET", "/me", "")
	counts := tel.Values(t, "gifting.gateway.limiter.fallback")
	const cause = "cause=not_configured,limiter="
	require.Positive(t, counts[cause+"key"])
	require.Equal(t, map[string]float64{
		cause + "key": counts[cause+"key"], cause + "images": 0, cause + "visits": 0, cause + "claims": 0,
	}, counts)
}

func TestAPublicURLMayEndWithASlash(t *testing.T) {
	t.Parallel()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.PublicURL += "/" }})
	placed := f.Do("POST", "/orders", `{"externalOrderId":"o-1"}`)
	require.Equal(t, http.StatusCreated, placed.Status, placed.Body)
	require.Equal(t, f.BaseURL+"/orders/an-order", placed.Header.Get("Location"))
	require.Equal(t, f.BaseURL+"/docs/errors#not_found", f.Do("GET", "/nothing", "").Parsed["type"])
}

// visit sends a request to the gift site like a browser, without following redirects.
// Headers are pairs of name and value.
func visit(t *testing.T, f *gatewaytest.Fixture, method, path, body string, headers ...string) gatewaytest.Answer {
	t.Helper()
	f.UseNewCaller()
	req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(f.BaseURL, "/api/public/v1")+path,
		strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Forwarded-For", f.ClientIP)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	return f.Send(http.DefaultTransport.RoundTrip, req)
}

const (
	giftPath = "/c/" + gatewaytest.GiftToken
	giftForm = "step=address&name=Marked+Astrid&street=Storgatan+1&city=Visby&country=SE&phone=%2B46701234567"
)

func TestAGiftsTokenAndAddressAreInNoLogSpanOrMetric(t *testing.T) {
	t.Parallel()
	log, spans, reader := &telemetrytest.Log{}, tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
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
	sent := visit(t, f, "POST", giftPath, giftForm)
	require.Equal(t, 303, sent.Status)
	cookie := sent.Header.Get("Set-Cookie")
	require.Contains(t, visit(t, f, "GET", giftPath+"?step=review", "", "Cookie", cookie).Body, "Marked Astrid")
	nonce, _, _ := strings.Cut(strings.TrimPrefix(cookie, "gift_form="), ";")
	require.Len(t, nonce, 26)

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
		for _, secret := range []string{gatewaytest.GiftToken, nonce, "Marked", "Storgatan"} {
			require.NotContains(t, text, secret, name)
		}
	}
}

func TestTheGiftSiteFindsALinkInAnyCell(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	other := f.AddCell(t, "b")
	other.Token = "b" + gatewaytest.GiftToken
	require.Equal(t, http.StatusOK, visit(t, f, "GET", giftPath, "").Status)
	require.Equal(t, http.StatusOK, visit(t, f, "GET", "/c/"+other.Token, "").Status)
	require.Equal(t, http.StatusNotFound, visit(t, f, "GET", "/c/c"+gatewaytest.GiftToken, "").Status)
	f.GiftFailure.Store(problem.Unavailable())
	other.Token = gatewaytest.GiftToken
	require.Equal(t, http.StatusOK, visit(t, f, "GET", giftPath, "").Status, "its tenant moves to the other cell")
}
