package parking_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/parking"
)

// exchange is a request of a caller who reads its answers.
func exchange(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
	require.NoError(t, err)
	return conn, bufio.NewReader(conn)
}

// serve parks each connection once, and answers what was held.
func serve(t *testing.T, lot *parking.Lot, parked chan<- *parking.Conn) (addr string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{ //nolint:gosec // Its callers are those of the test.
		ConnContext: parking.ConnContext,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if held, ok := parking.Resumed(r).(string); ok {
				_, _ = io.WriteString(w, held) //nolint:gosec // The test is the only caller.
				return
			}
			if c, err := parking.Park(w, r); err == nil {
				parked <- c
			}
		}),
	}
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	go func() { _ = server.Serve(parking.Listener{Listener: listener}) }()
	go func() { _ = server.Serve(lot) }()
	return listener.Addr().String()
}

func TestAConnectionThatIsGivenBackIsServed(t *testing.T) {
	t.Parallel()
	lot, parked := parking.New(), make(chan *parking.Conn, 1)
	conn, in := exchange(t, serve(t, lot, parked))
	for _, held := range []string{"first", "second"} {
		require.True(t, lot.GiveBack(<-parked, held))
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, held, string(text))
		_, err = io.WriteString(conn, "GET /again HTTP/1.1\r\nHost: a\r\n\r\n") // It is a new request, and is parked too.
		require.NoError(t, err)
	}
}

func TestAServerThatHasEndedTakesNoConnectionBack(t *testing.T) {
	t.Parallel()
	lot, parked := parking.New(), make(chan *parking.Conn, 1)
	exchange(t, serve(t, lot, parked))
	c := <-parked
	require.NoError(t, lot.Close())
	require.NoError(t, lot.Close(), "servers close it more than once")
	require.False(t, lot.GiveBack(c, "held"))
	require.NoError(t, c.Close())
	_, err := lot.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestAnAnswerWithoutAConnectionCannotBeParked(t *testing.T) {
	t.Parallel()
	_, err := parking.Park(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	require.Error(t, err)
}
