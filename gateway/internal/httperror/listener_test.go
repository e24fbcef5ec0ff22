package httperror_test

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

func TestMalformedHTTPIsAProblemDocument(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	base, err := url.Parse(f.BaseURL)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		request string
		status  int
	}{
		"an unknown transfer coding":  {"POST /orders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400},
		"a malformed path":            {"GET /orders/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"two lengths":                 {"POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
		"an unknown version":          {"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400},
		"a DEL in a header":           {"GET / HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\x7f\r\n\r\n", 400},
		"headers over the limit":      {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 400},
		"no host":                     {"GET / HTTP/1.1\r\n\r\n", 400},
		"an unknown expectation":      {"GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n", 400},
		"HTTP/1.0 and an expectation": {"GET / HTTP/1.0\r\nHost: x\r\nExpect: x\r\n\r\n", 400},
		"OPTIONS *, without a key":    {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 401},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", base.Host)
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			_, err = conn.Write([]byte(tc.request))
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			defer func() { _ = resp.Body.Close() }()
			require.Equal(t, tc.status, resp.StatusCode)
			require.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
			var body map[string]any
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
			require.Regexp(t, "^[0-9a-f]{32}$", body["instance"])
			require.Equal(t, resp.Header.Get("Request-Id"), body["instance"])
		})
	}
}
