package webhookclient_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// endless is the body of a response that never ends.
type endless struct {
	read   int
	closed bool
}

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func (e *endless) Close() error {
	e.closed = true
	return nil
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAtMost64KiBOfAResponseAreRead(t *testing.T) {
	t.Parallel()
	t.Run("counted at the body", func(t *testing.T) {
		body := &endless{}
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
		})}
		response := webhookclient.New(client, time.Now).Post(t.Context(), webhookclient.Request{URL: "https://example.com/"})
		require.NoError(t, response.Cause)
		require.Equal(t, 64<<10, body.read)
		require.True(t, body.closed)
		require.Len(t, response.Body, 1<<10, "kept for the log")
	})

	t.Run("an endless response is cut off", func(t *testing.T) {
		receiver, cut := webhooktest.NewReceiver(t), make(chan error, 1)
		receiver.Respond(func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.Copy(w, &endless{})
			cut <- err
		})
		client := netguard.NewClient(netguard.Options{AllowLoopback: true, Timeout: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		response := webhookclient.New(client, time.Now).Post(ctx, webhookclient.Request{URL: receiver.URL, Body: []byte("{}")})
		require.NoError(t, response.Cause)
		require.NoError(t, ctx.Err(), "the limit of 64 KiB ended the reading, not the timeout")
		require.Error(t, <-cut, "the connection is closed, not drained")
	})
}

func TestAReceiverThatDoesNotReadTimesOut(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	go func() {
		defer close(closed)
		if conn, err := listener.Accept(); err == nil {
			<-ctx.Done()
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	// More than the buffers of a connection hold.
	request := webhookclient.Request{URL: "http://" + listener.Addr().String(), Body: make([]byte, 16<<20)}
	client := netguard.NewClient(netguard.Options{AllowLoopback: true, Timeout: time.Minute})
	response := webhookclient.New(client, time.Now).Post(ctx, request)
	require.Equal(t, rules.ClassTimeout, response.Class)
	require.False(t, response.Internal, "the attempt counts")
	require.NoError(t, listener.Close())
	<-closed // By the client, or it had no time to connect.
}

// speaking is a receiver that reads the beginning of a request, writes a text and closes the connection.
func speaking(t *testing.T, text string, end func(*net.TCPConn)) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // The test has ended.
			}
			_, _ = conn.Read(make([]byte, 16<<10))
			_, _ = io.WriteString(conn, text) // The client says what it made of it.
			end(conn.(*net.TCPConn))
		}
	}()
	return listener.Addr().String()
}

func TestAFailedRequestSaysWhatHappened(t *testing.T) {
	t.Parallel()
	end := func(c *net.TCPConn) { _ = c.Close() }
	reset := func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() }
	tooNew := httptest.NewUnstartedServer(http.NotFoundHandler())
	tooNew.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
	tooNew.StartTLS()
	t.Cleanup(tooNew.Close)
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	long := "X: " + strings.Repeat("x", 1<<20) + "\r\n"
	for name, c := range map[string]struct{ url, says, class string }{
		"a closed port":         {closed.URL, "could not be reached: it refused the connection.", rules.ClassUnreachable},
		"another protocol":      {"http://" + speaking(t, "220 mail.example.com ESMTP\r\n", end), "did not answer: its response is not HTTP.", rules.ClassUnreachable},
		"a header that is none": {"http://" + speaking(t, "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", end), "did not answer: its response is not HTTP.", rules.ClassUnreachable},
		"headers without end":   {"http://" + speaking(t, "HTTP/1.1 200 OK\r\n"+long, end), "did not answer: the headers of its response are too large.", rules.ClassUnreachable},
		"an early end":          {"http://" + speaking(t, "", end), "did not answer: it closed the connection.", rules.ClassUnreachable},
		"half an answer":        {"http://" + speaking(t, "HTTP/1.1 200 OK\r\nX: y\r\n", end), "did not answer: it closed the connection.", rules.ClassUnreachable},
		"a reset":               {"http://" + speaking(t, "", reset), "did not answer: it closed the connection.", rules.ClassUnreachable},
		"HTTP without TLS":      {"https://" + speaking(t, "HTTP/1.1 400 Bad Request\r\n\r\n", end), "could not be reached: its port does not answer with TLS.", rules.ClassTLS},
		"no TLS at all":         {"https://" + speaking(t, "220 mail.example.com ESMTP\r\n", end), "could not be reached: its port does not answer with TLS.", rules.ClassTLS},
		"an old TLS":            {tooNew.URL, "could not be reached: the TLS handshake failed.", rules.ClassTLS},
		"an unknown authority":  {untrusted.URL, "could not be reached: its TLS certificate is not valid.", rules.ClassTLS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := netguard.NewClient(netguard.Options{AllowLoopback: true, Timeout: time.Minute})
			if c.url == tooNew.URL {
				client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MaxVersion: tls.VersionTLS12}}}
			}
			response := webhookclient.New(client, time.Now).Post(t.Context(), webhookclient.Request{URL: c.url, Body: []byte("{}")})
			require.Equal(t, "The webhook "+c.says, response.Problem, "%v", response.Cause)
			require.Equal(t, c.class, response.Class)
			require.False(t, response.Internal, "the attempt counts")
		})
	}
}
