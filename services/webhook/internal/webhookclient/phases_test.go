package webhookclient_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
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

// stalled answers each connection with the text after its request. Then it waits until the client has ended the exchange, or cuts the
// connection.
func stalled(t *testing.T, text string, cut bool) (address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				buffer := make([]byte, 64<<10)
				_, _ = conn.Read(buffer)
				_, _ = io.WriteString(conn, text)
				if !cut {
					_, _ = io.Copy(io.Discard, conn)
				}
			}()
		}
	}()
	return listener.Addr().String()
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
	} {
		for end, cut := range map[string]bool{"and then nothing": false, "and the end of the connection": true} {
			t.Run(name+" "+end, func(t *testing.T) {
				t.Parallel()
				within := little
				if cut || c.status > 0 {
					within = enough
				}
				response := post(t, netguard.Options{AllowLoopback: true}, within, "http://"+stalled(t, c.sent, cut))
				require.Equal(t, c.status, response.Status, "%v", response.Cause)
				require.Equal(t, c.status/100 == 2, response.Delivered())
				require.False(t, response.Internal, "the attempt counts")
				require.Equal(t, c.logged, string(response.Body))
				if c.status == 0 && !cut {
					require.Equal(t, rules.ClassTimeout, response.Class)
				}
			})
		}
	}
	t.Run("a connection without a TLS handshake", func(t *testing.T) {
		t.Parallel()
		slow := netguard.Options{AllowLoopback: true, ConnectTimeout: little}
		require.Equal(t, rules.ClassTimeout, post(t, slow, enough, "https://"+stalled(t, "", false)).Class)
	})
}

func TestARedirectIsAFailureAndSendsNothingElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := webhooktest.NewReceiver(t)
	for _, status := range []int{300, 301, 302, 303, 305, 307, 308} {
		receiver := webhooktest.NewReceiver(t)
		receiver.Respond(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(status)
		})
		response := post(t, netguard.Options{AllowLoopback: true}, enough, receiver.URL)
		require.Equal(t, status, response.Status)
		require.False(t, response.Delivered())
		require.Len(t, receiver.Arrivals(), 1)
	}
	require.Empty(t, elsewhere.Arrivals())
}

func TestNoPrivateAddressGetsAnEvent(t *testing.T) {
	t.Parallel()
	receiver := webhooktest.NewReceiver(t)
	for _, target := range []string{
		receiver.URL, "https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/", "https://[::1]/", "https://[::ffff:10.0.0.1]/",
		"https://[64:ff9b::a00:1]/", "http://192.0.2.1/", "https://0.0.0.0/", "https://localhost/",
	} {
		response := post(t, netguard.Options{}, enough, target)
		require.Equal(t, rules.ClassForbidden, response.Class, target)
		require.NotContains(t, response.Problem, "127.0.0.1")
	}
	require.Empty(t, receiver.Arrivals())
}

// What is signed and sent are the bytes that were given, whatever an encoder would make of them.
func TestTheBytesThatAreSentAreThoseThatAreSigned(t *testing.T) {
	t.Parallel()
	receiver := webhooktest.NewReceiver(t)
	client := webhookclient.New(netguard.NewClient(netguard.Options{AllowLoopback: true}), time.Now)
	secrets := webhookclient.SecretsOf(receiver.Endpoint(1), time.Now())
	for _, text := range []string{
		`{"text":"<b>&amp;</b>"}`, "{\"text\":\"\u2028\u2029\u00a0\"}", `{"text":"\u003c\u0026\u2028\/"}`, "{ \"b\" : 1.0,\n\"a\":1e2 }\n", "{\"text\":\"\ufffd🎁\"}",
	} {
		response := client.Post(t.Context(), webhookclient.Request{URL: receiver.URL, Secrets: secrets, EventID: "e", Body: []byte(text)})
		require.True(t, response.Delivered(), "%v", response.Cause)
		arrivals := receiver.Arrivals()
		last := arrivals[len(arrivals)-1]
		require.Equal(t, text, string(last.Body))
		require.True(t, last.Verified, text)
	}
}
