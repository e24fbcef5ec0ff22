package edge_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

const anOrder = `{"externalOrderId":"o-1"}`

func TestAnUnknownFaultIsRefusedWithAllThatThereAre(t *testing.T) {
	t.Parallel()
	got := gatewaytest.New(t).Do("GET", "/orders", "", "Sandbox-Fault", "lost, timeout")
	require.Equal(t, []any{fieldError("Sandbox-Fault", "invalid", "must be one of 429, 500, 503, timeout, lost, in-progress")},
		got.Parsed["errors"])
	require.Empty(t, got.Header.Get("Sandbox"))

	got = gatewaytest.New(t).Do("POST", "/orders:validate", anOrder, "Sandbox-Fault", "in-progress")
	require.Equal(t, []any{fieldError("Sandbox-Fault", "invalid", "in-progress is only for requests that need an Idempotency-Key")},
		got.Parsed["errors"])
}

func TestAForcedAnswerCountsAsARequest(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	refused := 0
	for range 310 {
		if got := f.Do("GET", "/me", "", "Sandbox-Fault", "503"); got.Status == http.StatusTooManyRequests {
			require.Empty(t, got.Header.Get("Sandbox"), "the real limit")
			refused++
		}
	}
	require.GreaterOrEqual(t, refused, 10)
}

func TestProductionIgnoresFaults(t *testing.T) {
	t.Parallel()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.Environment = apikey.Production }})
	for _, fault := range []string{"429", "500", "503", "timeout", "lost", "in-progress", "418"} {
		require.Equal(t, http.StatusCreated, f.Do("POST", "/orders", anOrder, "Sandbox-Fault", fault).Status)
		require.Equal(t, http.StatusOK, f.Do("GET", "/me", "", "Sandbox-Fault", fault).Status)
	}
}

func TestPathsThatNeedNoKeyIgnoreFaults(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for _, path := range []string{"/docs", "/catalog/images/known"} {
		require.Equal(t, http.StatusOK, f.Do("GET", path, "", "Sandbox-Fault", "503").Status)
	}
}

// sendAlone sends a request on a connection of its own, because clients repeat requests whose reused connection was closed.
func sendAlone(req *http.Request) error {
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func TestALostAnswerTakesEffect(t *testing.T) {
	t.Parallel()
	var log telemetrytest.Log
	tel, err := telemetry.New(t.Context(), "gateway", telemetry.Config{LogLevel: slog.LevelDebug}, &log)
	require.NoError(t, err)
	f := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel})
	for _, method := range []string{"POST", "GET", "HEAD"} {
		calls := f.Calls.Load()
		body := map[bool]string{true: anOrder}[method == "POST"]
		err := sendAlone(f.Request(method, "/orders", strings.NewReader(body), "Idempotency-Key", "k", "Sandbox-Fault", "lost"))
		require.ErrorIs(t, err, io.EOF, "%s: the connection is closed without an answer", method)
		require.Equal(t, calls+1, f.Calls.Load())
	}
	f.Replayed = true // As the service then finds its stored answer.
	again := f.Do("POST", "/orders", anOrder, "Idempotency-Key", "k")
	require.Equal(t, []any{http.StatusCreated, "true"}, []any{again.Status, again.Header.Get("Idempotent-Replayed")})

	t.Run("an answer larger than all buffers is not begun", func(t *testing.T) {
		f.Failure = problem.New(problem.OutOfStock, "%s", strings.Repeat("x", 100_000))
		defer func() { f.Failure = nil }()
		require.ErrorIs(t, sendAlone(f.Request("POST", "/orders", strings.NewReader(anOrder), "Sandbox-Fault", "lost")), io.EOF)
	})
	t.Run("what the gateway refuses before is answered", func(t *testing.T) {
		require.Equal(t, 404, f.Do("GET", "/nothing", "", "Sandbox-Fault", "lost").Status)
		require.Equal(t, 400, f.Do("POST", "/orders", anOrder, "Idempotency-Key", "", "Sandbox-Fault", "timeout").Status)
	})
	require.NotContains(t, log.String(), "panic")
	require.Contains(t, log.String(), `"forced":"lost"`)
}

// holdForcedTimeout begins a forced timeout and returns once its order is placed. It ends when the caller is gone, or the gateway.
func holdForcedTimeout(t *testing.T, f *gatewaytest.Fixture, group *errgroup.Group) (disconnect context.CancelFunc) {
	t.Helper()
	calls := f.Calls.Load()
	ctx, cancel := context.WithCancel(t.Context())
	req := f.Request("POST", "/orders", strings.NewReader(anOrder), "Sandbox-Fault", "timeout").WithContext(ctx)
	group.Go(func() error { return sendAlone(req) })
	eventually(t, func() bool { return f.Calls.Load() > calls })
	return cancel
}

func TestAForcedTimeoutTakesEffectAndIsBounded(t *testing.T) {
	t.Parallel()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.Limits.RequestsPerKey = 12 }})
	var group errgroup.Group
	disconnect := holdForcedTimeout(t, f, &group)
	for range 9 {
		holdForcedTimeout(t, f, &group)
	}
	busy := f.Key
	refused := f.Do("POST", "/orders", anOrder, "Sandbox-Fault", "timeout")
	require.Equal(t, []any{429, "30", ""}, []any{refused.Status, refused.Header.Get("Retry-After"), refused.Header.Get("Sandbox")})
	require.EqualValues(t, 10, f.Calls.Load())
	require.Equal(t, http.StatusCreated, f.Do("POST", "/orders", anOrder).Status)

	t.Run("for each key", func(t *testing.T) {
		f.UseNewCaller()
		holdForcedTimeout(t, f, &group)
		f.Key = busy
	})
	t.Run("until the caller is gone", func(t *testing.T) {
		disconnect()
		eventually(t, func() bool {
			return f.Do("POST", "/orders", "{", "Sandbox-Fault", "timeout", "Idempotency-Key", "").Status == http.StatusBadRequest
		})
	})
	t.Run("and the gateway does not wait for it when it shuts down", func(t *testing.T) {
		f.Shutdown()
		require.NoError(t, f.WaitForEnd())
		err := group.Wait()
		require.True(t, errors.Is(err, io.EOF) || errors.Is(err, context.Canceled), "%v", err)
	})
}

func TestAForcedFailureAlarmsNobody(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel.Telemetry})
	for _, fault := range []string{"429", "500", "503", "in-progress"} {
		f.Do("POST", "/orders", anOrder, "Sandbox-Fault", fault)
	}
	require.Equal(t, 503, f.Do("POST", "/webhooks:test", "{}", "Sandbox-Fault", "503").Status)
	require.Empty(t, f.Notes(), "no Idempotency-Key is claimed")
	require.Error(t, sendAlone(f.Request("POST", "/orders", strings.NewReader(anOrder), "Sandbox-Fault", "lost")))
	f.Do("GET", "/orders", "")
	eventually(t, func() bool { return len(tel.Spans("GET /orders")) == 1 && len(tel.Spans("POST /orders")) == 4 })
	for series := range tel.Values(t, "http.server.request.duration") {
		require.NotContains(t, series, "POST")
		require.Contains(t, series, "http.response.status_code=200")
	}
	for _, span := range tel.Spans("POST /orders") {
		require.NotEqual(t, "Error", span.Status().Code.String())
	}
}
