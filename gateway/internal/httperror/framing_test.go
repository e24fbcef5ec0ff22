package httperror_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

func TestAConnectionClosesAfterARequestWhoseEndIsUncertain(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	base, err := url.Parse(f.BaseURL)
	require.NoError(t, err)
	header := "POST /api/public/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.Key + "\r\n"
	old := strings.Replace(header, "HTTP/1.1", "HTTP/1.0", 1) + "Connection: keep-alive\r\n"
	const chunked, length, empty = "Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\n", "\r\n0\r\n\r\n"
	for name, tc := range map[string]struct {
		// parts are written one after another.
		parts []string
		close bool
	}{
		"the length first":             {[]string{header + length + chunked + empty}, true},
		"the length last":              {[]string{header + chunked + length + empty}, true},
		"in other letters":             {[]string{header + chunked + "cOnTENT-lENGTH: 5\r\n" + empty}, true},
		"in several packets":           {strings.SplitAfter(header+length+chunked+empty, "Conten"), true},
		"behind a longer header":       {[]string{header + "X: " + strings.Repeat("x", 9000) + "\r\n" + length + chunked + empty}, true},
		"in a folded line":             {[]string{header + chunked + "X: x\r\n " + length + empty}, true},
		"HTTP/1.0 with both":           {[]string{old + length + chunked + "\r\n12345"}, true},
		"HTTP/1.0 with chunks":         {[]string{old + chunked + empty}, true},
		"only chunks":                  {[]string{header + chunked + empty}, false},
		"only a length":                {[]string{header + length + "\r\n12345"}, false},
		"a header with a similar name": {[]string{header + chunked + "X-Content-Length: 5\r\n" + empty}, false},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", base.Host)
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			for _, part := range tc.parts {
				_, err = conn.Write([]byte(part))
				require.NoError(t, err)
			}
			reader := bufio.NewReader(conn)
			resp, err := http.ReadResponse(reader, nil)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, tc.close, resp.Close)
			if tc.close {
				_, err = reader.ReadByte()
				require.ErrorIs(t, err, io.EOF)
			}
		})
	}
}
