package forward_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/forward"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func TestAnEventArrivesAsAWebhook(t *testing.T) {
	t.Parallel()
	secrets := []string{strings.Repeat("1", 64), strings.Repeat("2", 64)}
	var event gifting.Event
	raw := `{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10","type":"order.new", ` +
		`"occurredAt":"2026-01-01T00:00:00Z","environment":"sandbox","data":{"a":"<"}}`
	require.NoError(t, json.Unmarshal([]byte(raw), &event))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		for _, secret := range secrets {
			_, verified := gifting.Verify(body, req.Header, secret)
			if err != nil || verified != nil || string(body) != raw || req.Method != http.MethodPost {
				w.WriteHeader(http.StatusTeapot)
				return
			}
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(strings.Repeat("x", 2000)))
	}))
	t.Cleanup(server.Close)
	verdict := forward.New(server.URL, secrets...).Send(t.Context(), event)
	require.Equal(t, http.StatusAccepted, verdict.Status)
	require.True(t, verdict.Delivered)
	require.Empty(t, verdict.Error)
	require.Len(t, verdict.Body, 1024)
}

func TestAPingIsAnEvent(t *testing.T) {
	t.Parallel()
	ping := forward.Ping()
	var event gifting.Event
	require.NoError(t, json.Unmarshal(ping.Raw, &event))
	require.Equal(t, ping.ID, event.ID)
	require.IsType(t, &gifting.Ping{}, event.Data)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, ping.ID)
	require.NotEqual(t, ping.ID, forward.Ping().ID)
}

func TestOnlyA2xxIsADelivery(t *testing.T) {
	t.Parallel()
	followed := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/moved":
			http.Redirect(w, req, "/elsewhere", http.StatusPermanentRedirect)
		case "/elsewhere":
			followed = true
		case "/silent":
			_, _ = io.Copy(io.Discard, req.Body) // Only then does the server notice that the client has gone.
			<-req.Context().Done()
		default:
			http.Error(w, "no such page", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	missing := forward.New(server.URL+"/nothing", "s").Send(t.Context(), forward.Ping())
	require.Equal(t, "the receiver answered HTTP 404", missing.Error)
	require.Equal(t, "no such page\n", missing.Body)
	moved := forward.New(server.URL+"/moved", "s").Send(t.Context(), forward.Ping())
	require.Equal(t, "the receiver answered HTTP 308: redirects are not followed", moved.Error)
	require.False(t, followed)
	slow := forward.New(server.URL+"/silent", "s")
	require.Equal(t, 10*time.Second, slow.Client.Timeout)
	slow.Client.Timeout = 50 * time.Millisecond
	require.Equal(t, "the receiver did not answer within ten seconds", slow.Send(t.Context(), forward.Ping()).Error)
	require.NotEmpty(t, forward.New(":", "s").Send(t.Context(), forward.Ping()).Error)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, forward.New(server.URL, "s").Send(ended, forward.Ping()).Delivered)
}

// speaking is a receiver that reads the beginning of a request, writes a text and closes the connection.
func speaking(t *testing.T, text string) string {
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
			_, _ = io.WriteString(conn, text) // The sender says what it made of it.
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

func TestAVerdictSaysWhatHappened(t *testing.T) {
	t.Parallel()
	tooNew := httptest.NewUnstartedServer(http.NotFoundHandler())
	tooNew.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
	tooNew.StartTLS()
	t.Cleanup(tooNew.Close)
	const (
		refused = "the receiver could not be reached: dial tcp 127.0.0.1:1: connect: connection refused"
		noTLS   = "the receiver does not answer with TLS: its address may begin with http"
	)
	long := "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 11<<20) + "\r\n"
	for receiver, want := range map[string]string{
		"http://127.0.0.1:1":                                         refused,
		"http://nowhere.invalid:1":                                   "the host name nowhere.invalid could not be resolved",
		"http://" + speaking(t, ""):                                  "the receiver closed the connection without an answer",
		"http://" + speaking(t, "x"):                                 "the receiver's answer is not HTTP",
		"http://" + speaking(t, long):                                "the headers of the receiver's answer are too large",
		"https://" + speaking(t, "HTTP/1.1 400 Bad Request\r\n\r\n"): noTLS,
		"https://" + speaking(t, "220 mail.example.com ESMTP\r\n"):   noTLS,
		tooNew.URL: "the receiver's TLS certificate is not valid: ",
	} {
		require.Contains(t, forward.New(receiver, "s").Send(t.Context(), forward.Ping()).Error, want, receiver)
	}
	old := forward.New(tooNew.URL, "s")
	old.Client.Transport = &http.Transport{TLSClientConfig: &tls.Config{MaxVersion: tls.VersionTLS12}}
	require.Contains(t, old.Send(t.Context(), forward.Ping()).Error, "the TLS handshake failed: ")
}
