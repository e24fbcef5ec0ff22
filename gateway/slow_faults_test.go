//go:build faults

package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func (f *fixture) connect(t *testing.T) net.Conn {
	t.Helper()
	base, err := url.Parse(f.base)
	require.NoError(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", base.Host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(3*time.Minute)))
	return conn
}

// TestFaultsOfSlowCallers: whoever sends slowly, or nothing, holds no connection for long.
func TestFaultsOfSlowCallers(t *testing.T) {
	f := setup(t)
	t.Run("a caller", func(t *testing.T) {
		t.Run("that does not end its header is cut off", func(t *testing.T) {
			t.Parallel()
			conn := f.connect(t)
			began := time.Now()
			_, err := conn.Write([]byte("GET /api/public/v1/me HTTP/1.1\r\nHost: x\r\n"))
			require.NoError(t, err)
			_, err = io.ReadAll(conn)
			require.NoError(t, err, "the server ends the connection, and not the test's deadline")
			require.InDelta(t, 10, time.Since(began).Seconds(), 5)
		})
		t.Run("that does not end its body is answered 400", func(t *testing.T) {
			t.Parallel()
			conn := f.connect(t)
			began := time.Now()
			_, err := conn.Write([]byte("POST /api/public/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.key +
				"\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"))
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusBadRequest, resp.StatusCode)
			require.InDelta(t, 60, time.Since(began).Seconds(), 10)
		})
		t.Run("that says nothing more after its answer is left", func(t *testing.T) {
			t.Parallel()
			conn := f.connect(t)
			_, err := conn.Write([]byte("GET /api/public/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.key + "\r\n\r\n"))
			require.NoError(t, err)
			reader := bufio.NewReader(conn)
			resp, err := http.ReadResponse(reader, nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, resp.StatusCode)
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			answered := time.Now()
			_, err = reader.ReadByte()
			require.ErrorIs(t, err, io.EOF)
			require.InDelta(t, 120, time.Since(answered).Seconds(), 15)
		})
	})
	require.Equal(t, http.StatusOK, f.do("GET", "/me", "").status, "others are served meanwhile")
	require.Zero(t, f.ran.Load())
}
