package edge_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

// connection is one of a caller who writes requests without a library.
type connection struct {
	net.Conn

	in *bufio.Reader
	f  *waitFixture
}

func (f *waitFixture) connect(t *testing.T) *connection {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.Split(f.Base, "/")[2])
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(gatewaytest.Patience)))
	return &connection{conn, bufio.NewReader(conn), f}
}

// send sends a request with the headers, each of which is a line.
func (c *connection) send(t *testing.T, start string, headers ...string) {
	t.Helper()
	headers = append(headers, "Host: example.com", "Authorization: Bearer "+c.f.Key)
	_, err := io.WriteString(c, strings.Replace(start, " /", " /api/public/v1/", 1)+"\r\n"+strings.Join(headers, "\r\n")+"\r\n\r\n")
	require.NoError(t, err)
}

// hold sends a request and returns when it is held.
func (c *connection) hold(t *testing.T, start string, headers ...string) {
	t.Helper()
	already := c.f.held(t)
	c.send(t, start, headers...)
	require.Eventually(t, func() bool { return c.f.held(t) == already+1 }, gatewaytest.Patience, tick)
}

// answer reads an answer to a request of the method. If its connection closes, the header says so.
func (c *connection) answer(t *testing.T, method string) gatewaytest.Answer {
	t.Helper()
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	if resp.Close {
		resp.Header.Set("Connection", "close")
	}
	return gatewaytest.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(text)}
}

func (c *connection) requireClosed(t *testing.T) {
	t.Helper()
	_, err := c.in.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}

func TestTheConnectionOfAHeldCallIsUsedAgain(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	c := f.connect(t)
	for range 3 {
		cursor := f.cursor()
		c.hold(t, "GET /events?wait=30&after="+cursor+" HTTP/1.1")
		id := f.Feed.Commit(nil)
		got := c.answer(t, http.MethodGet)
		require.Equal(t, http.StatusOK, got.Status)
		require.Contains(t, got.Body, id)
		require.Len(t, got.Header.Values("Request-Id"), 1)
		require.NotEmpty(t, got.Header.Get("RateLimit"))
		require.Empty(t, got.Header.Get("Connection"))
		c.send(t, "GET /me HTTP/1.1")
		got = c.answer(t, http.MethodGet)
		require.Equal(t, http.StatusOK, got.Status)
		require.Contains(t, got.Body, "tenant")
	}
}

func TestAHeldCallIsAnsweredInTheFormOfItsRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method, version string
		headers         []string
		closes, empty   bool
	}{
		"HEAD":                              {method: "HEAD", version: "1.1", empty: true},
		"a connection that is to be closed": {method: "GET", version: "1.1", headers: []string{"Connection: close"}, closes: true},
		"HTTP/1.0":                          {method: "GET", version: "1.0", closes: true},
		"HTTP/1.0 that keeps alive":         {method: "GET", version: "1.0", headers: []string{"Connection: keep-alive"}, closes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupWait(t, gatewaytest.Options{})
			c := f.connect(t)
			c.hold(t, fmt.Sprintf("%s /events?wait=30 HTTP/%s", tc.method, tc.version), tc.headers...)
			id := f.Feed.Commit(nil)
			got := c.answer(t, tc.method)
			require.Equal(t, http.StatusOK, got.Status)
			if tc.empty {
				require.Empty(t, got.Body)
			} else {
				require.Contains(t, got.Body, id)
			}
			if tc.closes {
				c.requireClosed(t)
			}
		})
	}
}

func TestACallerThatSendsMoreGetsItsAnswerAtOnce(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	for name, send := range map[string]func(t *testing.T, c *connection){
		"while its call is held": func(t *testing.T, c *connection) {
			t.Helper()
			c.hold(t, "GET /events?wait=30 HTTP/1.1")
			c.send(t, "GET /me HTTP/1.1")
		},
		"with its call": func(t *testing.T, c *connection) {
			t.Helper()
			both := "GET /api/public/v1/events?wait=30 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + f.Key + "\r\n\r\n"
			_, err := io.WriteString(c, both+strings.Replace(both, "events?wait=30", "me", 1))
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := f.connect(t)
			send(t, c)
			got := c.answer(t, http.MethodGet)
			require.Contains(t, got.Body, "nextCursor")
			got = c.answer(t, http.MethodGet)
			require.Contains(t, got.Body, "tenant")
		})
	}
}

func TestACallIsNotHeldIfTooMuchOfItWouldBeKept(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	long := strings.Repeat("x", 4<<10)
	longHost := f.Request("GET", "/events?wait=30", nil)
	longHost.Host = long
	for name, got := range map[string]gatewaytest.Answer{
		"a body":        f.Do("GET", "/events?wait=30", "{}"),
		"a long target": f.Do("GET", "/events?wait=30&x="+long, ""),
		"a long host":   f.Send(http.DefaultClient.Do, longHost),
		"a padded key":  f.Do("GET", "/events?wait=30", "", "Authorization", "Bearer "+strings.Repeat(" ", 4<<10)+f.Key),
	} {
		require.Equal(t, http.StatusOK, got.Status, name)
		require.Equal(t, "0", got.Header.Get("Wait"), name)
	}
}

func TestAHeldCallIsAnsweredHoweverLongItsHeadWas(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	c := f.connect(t)
	c.hold(t, "GET /events?wait=30 HTTP/1.1", slices.Repeat([]string{"Connection:"}, 5300)...) // Almost too long for the server.
	id := f.Feed.Commit(nil)
	got := c.answer(t, http.MethodGet)
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	require.Contains(t, got.Body, id)
	require.Zero(t, f.held(t))
}

func TestAGatewayThatStopsAtOnceStillAnswersWhatItHolds(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{Configure: func(c *gateway.Config) { c.LameDuck = 0 }})
	var conns []*connection
	for range 10 {
		f.NewCaller()
		c := f.connect(t)
		c.hold(t, "GET /events?wait=30 HTTP/1.1")
		conns = append(conns, c)
	}
	f.End()
	for _, c := range conns {
		got := c.answer(t, http.MethodGet)
		require.Equal(t, http.StatusOK, got.Status)
		require.Contains(t, got.Body, "nextCursor")
		require.Equal(t, "close", got.Header.Get("Connection"))
		c.requireClosed(t)
	}
	require.NoError(t, f.Ended())
}
