//go:build faults

package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
)

// fixture is a gateway whose readiness probe and shutdown are tested.
type fixture struct {
	*gatewaytest.Fixture
	metrics string
}

func setup(t *testing.T, lameDuck time.Duration) *fixture {
	t.Helper()
	metrics := testenv.FreeAddr(t)
	var log telemetrytest.Log
	tel, err := telemetry.New(t.Context(), "gateway", telemetry.Config{MetricsAddr: metrics}, &log)
	require.NoError(t, err)
	f := &fixture{metrics: "http://" + metrics, Fixture: gatewaytest.NewWith(t, gatewaytest.Options{
		Telemetry: tel, Configure: func(cfg *gateway.Config) { cfg.LameDuck, cfg.DrainTimeout = lameDuck, 0 },
	})}
	f.waitForReadiness(t, http.StatusOK)
	return f
}

func (f *fixture) readiness(t *testing.T) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.metrics+"/readyz", http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

func (f *fixture) waitForReadiness(t *testing.T, status int) {
	t.Helper()
	require.Eventually(t, func() bool { return f.readiness(t) == status }, gatewaytest.Patience, 5*time.Millisecond)
}

// post returns the status, and whether the connection is closed after the response.
func (f *fixture) post(ctx context.Context) (status int, closed bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.BaseURL+"/orders", strings.NewReader(`{"externalOrderId": "o-1"}`))
	if err != nil {
		return 0, false, err
	}
	req.Header.Set("Authorization", "Bearer "+f.Key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "once")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, false, err
	}
	return res.StatusCode, res.Close, res.Body.Close()
}

// postInFlight returns once an order is being placed. The channel will get the result of the request.
func (f *fixture) postInFlight(t *testing.T, release <-chan struct{}) <-chan error {
	t.Helper()
	entered, result := make(chan struct{}), make(chan error, 1)
	f.Hold = func() { close(entered); <-release }
	go func() {
		status, _, err := f.post(t.Context())
		if err == nil && status != http.StatusCreated {
			err = fmt.Errorf("status %d", status)
		}
		result <- err
	}()
	<-entered
	return result
}

func TestDuringShutdownRequestsAreServedAndTheirConnectionsClosed(t *testing.T) {
	t.Parallel()
	f := setup(t, time.Second)
	_, closed, err := f.post(t.Context())
	require.NoError(t, err)
	require.False(t, closed)
	f.Shutdown()
	f.waitForReadiness(t, http.StatusServiceUnavailable)
	for range 3 {
		status, closed, err := f.post(t.Context())
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, status)
		require.True(t, closed, "the caller must not use the connection again")
	}
	require.NoError(t, f.WaitForEnd())
	require.Zero(t, f.readiness(t))
}

func TestARequestInFlightIsAnsweredBeforeTheEnd(t *testing.T) {
	t.Parallel()
	f := setup(t, 0)
	release := make(chan struct{})
	result := f.postInFlight(t, release)
	f.Shutdown()
	f.waitForReadiness(t, http.StatusServiceUnavailable)
	require.Empty(t, result)
	close(release)
	require.NoError(t, <-result)
	require.NoError(t, f.WaitForEnd())
}

// TestEnduranceOfSlowCallers shows that a caller that sends slowly, or nothing, does not hold a connection for long.
func TestEnduranceOfSlowCallers(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	const meRequest = "GET /api/public/v1/me HTTP/1.1\r\nHost: x\r\n"
	for name, tc := range map[string]struct {
		request string
		// status is the status of the response; zero means that the connection is closed without one.
		status int
		// wait and after are the seconds until the response, or the end without one, and until the connection is then closed.
		wait, after float64
	}{
		"that does not finish its header is disconnected": {request: meRequest, wait: 10},
		"that does not finish its body is disconnected": {
			request: "POST /api/public/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.Key +
				"\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
			wait: 75,
		},
		"that sends nothing after its response is disconnected": {
			request: meRequest + "Authorization: Bearer " + f.Key + "\r\n\r\n", status: http.StatusOK, wait: 0, after: 120,
		},
	} {
		t.Run("a caller "+name, func(t *testing.T) {
			t.Parallel()
			host, _, _ := strings.Cut(strings.TrimPrefix(f.BaseURL, "http://"), "/")
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", host)
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			require.NoError(t, conn.SetDeadline(time.Now().Add(3*time.Minute)))
			began, reader := time.Now(), bufio.NewReader(conn)
			_, err = conn.Write([]byte(tc.request))
			require.NoError(t, err)
			if tc.status != 0 {
				resp, err := http.ReadResponse(reader, nil)
				require.NoError(t, err)
				require.Equal(t, tc.status, resp.StatusCode)
				_, err = io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				requireElapsed(t, began, tc.wait)
				began, tc.wait = time.Now(), tc.after
			}
			_, err = reader.ReadByte()
			require.ErrorIs(t, err, io.EOF, "the server closes the connection, not the deadline of the test")
			requireElapsed(t, began, tc.wait)
		})
	}
	require.Equal(t, http.StatusOK, f.Do("GET", "/me", "").Status, "other callers are served in the meantime")
	require.Zero(t, f.Calls.Load())
}

func requireElapsed(t *testing.T, began time.Time, seconds float64) {
	t.Helper()
	require.InDelta(t, seconds, time.Since(began).Seconds(), 5+seconds/12)
}
