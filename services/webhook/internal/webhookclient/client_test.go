package webhookclient_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	// enough is time for everything that a test expects to arrive, and little for what never does.
	enough, little = 3 * time.Second, 300 * time.Millisecond

	body = `{"id":"e","type":"order.created"}`
)

// post sends an event with the product's client, method and guards.
func post(t *testing.T, o netguard.Options, within time.Duration, target string) webhookclient.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	o.Timeout = time.Minute
	return webhookclient.New(netguard.NewClient(o), time.Now).Post(ctx, webhookclient.Request{
		URL: target, Secrets: webhookclient.SecretsOf(&tenantsv1.Endpoint{Secret: "s"}, time.Now()), EventID: "e", Body: []byte(body),
	})
}

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

// speaking answers each connection with a text after the beginning of its request, and then ends it.
func speaking(t *testing.T, text string, end func(*net.TCPConn)) (address string) {
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
			go func() {
				_, _ = conn.Read(make([]byte, 64<<10))
				_, _ = io.WriteString(conn, text) // The client says what it made of it.
				end(conn.(*net.TCPConn))
			}()
		}
	}()
	return listener.Addr().String()
}

// cut ends a connection at once, await when the client has ended it.
func cut(c *net.TCPConn) { _ = c.Close() }

func await(c *net.TCPConn) {
	_, _ = io.Copy(io.Discard, c)
	_ = c.Close()
}

func TestAFailedRequestSaysWhatHappened(t *testing.T) {
	t.Parallel()
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
	const (
		noHTTP = "did not answer: its response is not HTTP."
		large  = "did not answer: the headers of its response are too large."
		noTLS  = "could not be reached: its port does not answer with TLS."
		closes = "did not answer: it closed the connection."
		smtp   = "220 mail.example.com ESMTP\r\n"
		status = "HTTP/1.1 200 OK\r\n"
	)
	says := func(text string, end func(*net.TCPConn)) (url string) { return "http://" + speaking(t, text, end) }
	saysTo := func(text string) (url string) { return "https://" + speaking(t, text, cut) }
	for name, c := range map[string]struct{ url, says, class string }{
		"a closed port":         {closed.URL, "could not be reached: it refused the connection.", rules.ClassUnreachable},
		"another protocol":      {says(smtp, cut), noHTTP, rules.ClassUnreachable},
		"a header that is none": {says(status+"nonsense\r\n\r\n", cut), noHTTP, rules.ClassUnreachable},
		"headers without end":   {says(status+long, cut), large, rules.ClassUnreachable},
		"an early end":          {says("", cut), closes, rules.ClassUnreachable},
		"half an answer":        {says(status+"X: y\r\n", cut), closes, rules.ClassUnreachable},
		"a reset":               {says("", reset), closes, rules.ClassUnreachable},
		"HTTP without TLS":      {saysTo("HTTP/1.1 400 Bad Request\r\n\r\n"), noTLS, rules.ClassTLS},
		"no TLS at all":         {saysTo(smtp), noTLS, rules.ClassTLS},
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

// A receiver that closes idle connections may do so just as the next request is sent.
func TestARequestOnAConnectionThatTheReceiverClosesIsSentAgain(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	// Each connection gets one answer, and is closed when its second request has arrived.
	answer := func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		from := bufio.NewReader(conn)
		for n := range 2 {
			req, err := http.ReadRequest(from)
			if err != nil {
				return // The test has ended.
			}
			_, _ = io.Copy(io.Discard, req.Body)
			requests.Add(1)
			if _, sent := req.Header["Idempotency-Key"]; n == 0 && !sent {
				_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
			}
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // The test has ended.
			}
			go answer(conn)
		}
	}()
	client := webhookclient.New(netguard.NewClient(netguard.Options{AllowLoopback: true}), time.Now)
	for range 2 {
		request := webhookclient.Request{URL: "http://" + listener.Addr().String(), Body: []byte(body)}
		require.Equal(t, http.StatusNoContent, client.Post(t.Context(), request).Status)
	}
	require.EqualValues(t, 3, requests.Load(), "the second one twice")
}

// safeBuffer is a log that is read while it is written.
type safeBuffer struct {
	guard sync.Mutex
	text  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.guard.Lock()
	defer b.guard.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.guard.Lock()
	defer b.guard.Unlock()
	return b.text.String()
}

func TestWhatAReceiverSendsBeyondItsResponseIsNotLogged(t *testing.T) { //nolint:paralleltest // A process has one standard logger.
	t.Cleanup(func() {
		log.SetOutput(os.Stderr)
		log.SetFlags(log.LstdFlags)
	})
	var logged safeBuffer
	tel, err := telemetry.New(t.Context(), "example", telemetry.Config{}, &logged)
	require.NoError(t, err)
	tel.RedirectStandardLogger()
	address := speaking(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOKclaimUrl", await)
	response := post(t, netguard.Options{AllowLoopback: true}, enough, "http://"+address)
	require.Equal(t, "OK", string(response.Body))
	require.Eventually(t, func() bool { return strings.Contains(logged.String(), "Unsolicited response") }, enough, time.Millisecond)
	require.NotContains(t, logged.String(), "claimUrl")
}

// A response counts from its head on, wherever it is slow or ends.
func TestTheStatusCountsOnceTheHeadIsRead(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	for name, c := range map[string]struct {
		sent   string
		status int
		logged string
	}{
		"nothing":                   {"", 0, ""},
		"half a status line":        {"HTTP/1.1 2", 0, ""},
		"half a head":               {head, 0, ""},
		"an interim response":       {"HTTP/1.1 103 Early Hints\r\n\r\n", 0, ""},
		"a head without its body":   {head + "Content-Length: 8\r\n\r\n", 200, ""},
		"half a body":               {head + "Content-Length: 8\r\n\r\nhalf", 200, "half"},
		"a body without an end":     {head + "\r\nhalf", 200, "half"},
		"half of the chunks":        {"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", 202, "half"},
		"an error without its body": {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 8\r\n\r\n", 503, ""},
		"a change of the protocol":  {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 101, ""},
	} {
		for how, end := range map[string]func(*net.TCPConn){"and then nothing": await, "and the end of the connection": cut} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				within, silent := enough, how == "and then nothing"
				if silent && c.status == 0 {
					within = little
				}
				response := post(t, netguard.Options{AllowLoopback: true}, within, "http://"+speaking(t, c.sent, end))
				require.Equal(t, c.status, response.Status, "%v", response.Cause)
				require.Equal(t, c.status/100 == 2, response.Delivered())
				require.False(t, response.Internal, "the attempt counts")
				require.Equal(t, c.logged, string(response.Body))
				if c.status == 0 && silent {
					require.Equal(t, rules.ClassTimeout, response.Class)
				}
			})
		}
	}
	t.Run("a connection without a TLS handshake", func(t *testing.T) {
		t.Parallel()
		slow := netguard.Options{AllowLoopback: true, ConnectTimeout: little}
		require.Equal(t, rules.ClassTimeout, post(t, slow, enough, "https://"+speaking(t, "", await)).Class)
	})
}
