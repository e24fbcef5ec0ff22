//go:build faults

package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

// TestEnduranceOfSlowCallers shows that a caller that sends slowly, or nothing, does not hold a connection for long.
func TestEnduranceOfSlowCallers(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	const meRequest = "GET /api/public/v1/me HTTP/1.1\r\nHost: x\r\n"
	for name, tc := range map[string]struct {
		request string
		// status is that of the response; zero: the connection is closed without one.
		status int
		// wait and after are the seconds until the response and, if not zero, until the connection is then closed.
		wait, after float64
	}{
		"that does not finish its header is disconnected": {request: meRequest, wait: 10},
		"that does not finish its body gets 400": {
			request: "POST /api/public/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.Key +
				"\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
			status: http.StatusBadRequest, wait: 60,
		},
		"that sends nothing after its response is disconnected": {
			request: meRequest + "Authorization: Bearer " + f.Key + "\r\n\r\n", status: http.StatusOK, wait: 0, after: 120,
		},
	} {
		t.Run("a caller "+name, func(t *testing.T) {
			t.Parallel()
			host, _, _ := strings.Cut(strings.TrimPrefix(f.Base, "http://"), "/")
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
				if tc.after == 0 {
					return
				}
				began, tc.wait = time.Now(), tc.after
			}
			_, err = reader.ReadByte()
			require.ErrorIs(t, err, io.EOF, "the server closes the connection, not the deadline of the test")
			requireElapsed(t, began, tc.wait)
		})
	}
	require.Equal(t, http.StatusOK, f.Do("GET", "/me", "").Status, "other callers are served meanwhile")
	require.Zero(t, f.Calls.Load())
}

func requireElapsed(t *testing.T, began time.Time, seconds float64) {
	t.Helper()
	require.InDelta(t, seconds, time.Since(began).Seconds(), 5+seconds/12)
}
