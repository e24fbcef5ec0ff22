package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const giftToken = "Q2hvb3NlLWEtZ2lmdC10b2"

// giftLinks stands for the service behind the gift site: one link, which a claim closes.
type giftLinks struct {
	linksv1.UnimplementedGiftSiteServiceServer

	addr    string
	claimed atomic.Bool
	fault   atomic.Pointer[problem.Error]
}

func startGiftLinks(t *testing.T) *giftLinks {
	t.Helper()
	l := &giftLinks{addr: freeAddr(t)}
	server := rpc.NewServer(rpc.Config{Addr: l.addr}, telemetry.Discard())
	linksv1.RegisterGiftSiteServiceServer(server, l)
	run(t, server.Run)
	return l
}

func (l *giftLinks) GetClaimPage(_ context.Context, r *linksv1.GetClaimPageRequest) (*linksv1.GetClaimPageResponse, error) {
	if fault := l.fault.Load(); fault != nil {
		return nil, fault
	}
	if r.GetToken() != giftToken {
		return nil, problem.RecordNotFound()
	}
	page := &linksv1.GetClaimPageResponse{State: linksv1.ClaimState_CLAIM_STATE_CLAIMED, Locale: "en-US"}
	if !l.claimed.Load() {
		page.State = linksv1.ClaimState_CLAIM_STATE_OPEN
		page.Gifts = []*linksv1.ClaimGift{{ProductId: "truffles", Name: "Dark truffles", Countries: []string{"SE"}}}
	}
	return page, nil
}

func (l *giftLinks) ClaimLink(context.Context, *linksv1.ClaimLinkRequest) (*linksv1.ClaimLinkResponse, error) {
	if fault := l.fault.Load(); fault != nil {
		return nil, fault
	}
	l.claimed.Store(true)
	return &linksv1.ClaimLinkResponse{State: linksv1.ClaimState_CLAIM_STATE_CLAIMED}, nil
}

// lines is a log that several goroutines write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// visit sends a request to the gift site as a browser on its own page does, and follows nothing.
func visit(t *testing.T, base, method, path, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(base, "/api/public/v1")+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Forwarded-For", newAddress())
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	var raw bytes.Buffer
	_, err = raw.ReadFrom(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return answer{status: resp.StatusCode, header: resp.Header, body: raw.String()}
}

const giftForm = "step=send&gift=truffles&name=Marked+Astrid&street=Storgatan+1&city=Visby&country=SE&phone=%2B46701234567"

func TestAPlayerClaimsAGiftWithoutAKey(t *testing.T) {
	links := startGiftLinks(t)
	base := startGateway(t, startBackend(t), telemetry.Discard(), func(cfg *gateway.Config) { cfg.PersonalLinksAddr = links.addr })

	page := visit(t, base, "GET", "/c/"+giftToken, "")
	require.Equal(t, 200, page.status, page.body)
	require.Contains(t, page.body, "Dark truffles")
	require.Contains(t, page.header.Get("Content-Security-Policy"), "style-src 'sha256-", "the pages' own policy")
	require.Len(t, page.header.Values("Content-Security-Policy"), 1)
	head := visit(t, base, "HEAD", "/c/"+giftToken, "")
	require.Equal(t, 200, head.status)
	require.Empty(t, head.body)
	require.Equal(t, 404, visit(t, base, "GET", "/c/"+strings.Repeat("x", 22), "").status)
	require.Equal(t, 405, visit(t, base, "DELETE", "/c/"+giftToken, "").status)
	require.Equal(t, 401, visit(t, base, "GET", "/c", "").status, "all else is the API's")

	claim := visit(t, base, "POST", "/c/"+giftToken, giftForm)
	require.Equal(t, 303, claim.status, claim.body)
	require.Equal(t, "/c/"+giftToken, claim.header.Get("Location"))
	require.Contains(t, visit(t, base, "GET", "/c/"+giftToken, "").body, "This gift has been chosen")
}

func TestAGiftsTokenAndAddressStandInNoLogSpanOrMetric(t *testing.T) {
	log, spans, reader := &lines{}, tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	tel.Tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	tel.Meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	links := startGiftLinks(t)
	base := startGateway(t, startBackend(t), tel, func(cfg *gateway.Config) { cfg.PersonalLinksAddr = links.addr })

	require.Equal(t, 200, visit(t, base, "GET", "/c/"+giftToken+"?gift=truffles", "").status)
	require.Equal(t, 404, visit(t, base, "GET", "/c/"+giftToken+giftToken, "").status)
	require.Equal(t, 404, visit(t, base, "GET", "/c/"+giftToken+"/x", "").status)
	links.fault.Store(problem.Internal())
	require.Equal(t, 503, visit(t, base, "GET", "/c/"+giftToken, "").status)
	require.Equal(t, 503, visit(t, base, "POST", "/c/"+giftToken, giftForm).status)
	links.fault.Store(nil)
	require.Equal(t, 303, visit(t, base, "POST", "/c/"+giftToken, giftForm).status)

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
		require.NotContains(t, text, giftToken, name)
		require.NotContains(t, text, "Marked", name)
		require.NotContains(t, text, "Storgatan", name)
	}
}
