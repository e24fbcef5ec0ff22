package parking_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/parking"
)

// wait is a request whose connection is parked.
const wait = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"

// exchange sends requests of a caller who reads their answers.
func exchange(t *testing.T, addr, requests string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, requests)
	require.NoError(t, err)
	return conn, bufio.NewReader(conn)
}

// serve parks the connection of each request, and answers a text that was held.
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
	conn, in := exchange(t, serve(t, lot, parked), wait)
	for _, held := range []string{"first", "second"} {
		require.True(t, lot.GiveBack(<-parked, held))
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, held, string(text))
		_, err = io.WriteString(conn, wait) // It is a new request, and is parked too.
		require.NoError(t, err)
	}
}

func TestAServerThatHasEndedTakesNoConnectionBack(t *testing.T) {
	t.Parallel()
	lot, parked := parking.New(), make(chan *parking.Conn, 1)
	exchange(t, serve(t, lot, parked), wait)
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

// TestWhatACallerHasSentMoreIsKeptHoweverOftenItsConnectionIsParked sends two requests at once.
func TestWhatACallerHasSentMoreIsKeptHoweverOftenItsConnectionIsParked(t *testing.T) {
	t.Parallel()
	lot, parked := parking.New(), make(chan *parking.Conn, 1)
	conn, in := exchange(t, serve(t, lot, parked), wait+wait)
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	for range 3 {
		require.True(t, lot.GiveBack(<-parked, nil))
	}
	for _, held := range []string{"first", "second"} {
		require.True(t, lot.GiveBack(<-parked, held))
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, held, string(text))
	}
}

// brokenConn is a connection whose other end does not answer the network any more.
type brokenConn struct{ net.Conn }

// Read implements net.Conn.
func (brokenConn) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}
}

func TestACallerWhoseNetworkIsBrokenHasLeft(t *testing.T) {
	t.Parallel()
	require.True(t, (&parking.Conn{Conn: brokenConn{}}).Gone())
}
