package netguard

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reply is a response whose body has been read.
type reply struct {
	status     int
	protoMajor int
	body       []byte
}

// post makes the request that webhooks make: a redirect may change what is sent with another method.
func post(t *testing.T, client *http.Client, target string) (reply, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader("{}"))
	require.NoError(t, err)
	res, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, protoMajor: res.ProtoMajor, body: body}, err
}

// receiver is a TLS server on loopback that counts its requests.
func receiver(t *testing.T, handler http.HandlerFunc) (server *httptest.Server, roots *tls.Config, hits *atomic.Int64) {
	t.Helper()
	hits = new(atomic.Int64)
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		handler(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server, &tls.Config{RootCAs: pool}, hits
}

func ok(http.ResponseWriter, *http.Request) {}

func TestLoopback(t *testing.T) {
	t.Parallel()
	t.Run("a server on loopback is refused by default, before a connection is made", func(t *testing.T) {
		server, roots, hits := receiver(t, ok)
		_, err := post(t, NewClient(Options{TLS: roots}), server.URL)
		require.ErrorIs(t, err, ErrForbiddenAddress)
		require.Zero(t, hits.Load())
	})

	t.Run("the option allows it, over HTTP/2", func(t *testing.T) {
		server, roots, _ := receiver(t, ok)
		res, err := post(t, NewClient(Options{TLS: roots, AllowLoopback: true}), server.URL)
		require.NoError(t, err)
		require.Equal(t, 2, res.protoMajor)
	})

	t.Run("plain HTTP goes to loopback with the option and nowhere without", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(ok))
		t.Cleanup(server.Close)
		_, err := post(t, NewClient(Options{}), server.URL)
		require.ErrorIs(t, err, ErrURL)
		_, err = post(t, NewClient(Options{AllowLoopback: true}), server.URL)
		require.NoError(t, err)
		_, err = post(t, NewClient(Options{AllowLoopback: true}), "http://example.com/")
		require.ErrorIs(t, err, ErrURL)
	})
}

func TestDialerRefusesEveryFormOfAnAddress(t *testing.T) {
	t.Parallel()
	client := NewClient(Options{})
	for _, host := range []string{
		"127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "192.168.0.1", "100.64.0.1",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fd00::1]", "[fec0::1]",
	} {
		_, err := post(t, client, "https://"+host+"/")
		require.ErrorIs(t, err, ErrForbiddenAddress, host)
	}
	require.ErrorIs(t, Options{}.control(t.Context(), "unix", "/run/docker.sock", nil), ErrForbiddenAddress)
	require.ErrorIs(t, Options{}.control(t.Context(), "tcp4", "nonsense", nil), ErrForbiddenAddress)
}

func TestNameThatChangesItsAddress(t *testing.T) {
	t.Parallel()
	server, roots, hits := receiver(t, ok)
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	resolver := resolverOf(t, netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("127.0.0.1"))
	target := "https://receiver.example.com:" + u.Port() + "/"

	require.Empty(t, CheckURL(target, Options{}))
	checked, err := resolver.LookupNetIP(t.Context(), "ip4", "receiver.example.com.")
	require.NoError(t, err)
	require.True(t, public(checked[0].Unmap()), "public when it is checked")

	_, err = post(t, NewClient(Options{TLS: roots, Resolver: resolver}), target)
	require.ErrorIs(t, err, ErrForbiddenAddress, "loopback when it is used")
	require.Zero(t, hits.Load())
}

func TestRedirectsAreAnswers(t *testing.T) {
	t.Parallel()
	elsewhere, _, followed := receiver(t, ok)
	for _, status := range []int{300, 301, 302, 303, 307, 308} {
		for _, to := range []string{"/elsewhere", elsewhere.URL, "https://{host}/", "http://a:port/", "%zz"} {
			requireNotFollowed(t, status, to)
		}
	}
	require.Zero(t, followed.Load())
}

func requireNotFollowed(t *testing.T, status int, to string) {
	t.Helper()
	server, roots, hits := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	})
	res, err := post(t, NewClient(Options{TLS: roots, AllowLoopback: true}), server.URL)
	require.NoError(t, err)
	require.Equal(t, status, res.status)
	require.EqualValues(t, 1, hits.Load())
}

// The standard library reads the environment once per process, so the request is made in another one.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	t.Parallel()
	const inChild = "NETGUARD_TEST_IN_CHILD"
	if os.Getenv(inChild) != "" {
		resolver := resolverOf(t, netip.MustParseAddr("127.0.0.1"))
		client := NewClient(Options{AllowLoopback: true, Resolver: resolver, ConnectTimeout: time.Second})
		_, err := post(t, client, "https://receiver.example.com:1/")
		require.Error(t, err, "nothing listens there")
		return
	}
	proxy, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	var connected atomic.Bool
	go func() {
		if conn, err := proxy.Accept(); err == nil {
			connected.Store(true)
			_ = conn.Close()
		}
	}()
	address := "http://" + proxy.Addr().String()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), inChild+"=1", "HTTPS_PROXY="+address, "HTTP_PROXY="+address)
	output, err := child.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.False(t, connected.Load())
}

func TestTLS(t *testing.T) {
	t.Parallel()
	t.Run("a server that speaks TLS 1.1 at most is refused", func(t *testing.T) {
		server := httptest.NewUnstartedServer(http.HandlerFunc(ok))
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		server.StartTLS()
		t.Cleanup(server.Close)
		pool := x509.NewCertPool()
		pool.AddCert(server.Certificate())
		low := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10}
		_, err := post(t, NewClient(Options{TLS: low, AllowLoopback: true}), server.URL)
		require.ErrorContains(t, err, "protocol version")
		require.EqualValues(t, tls.VersionTLS10, low.MinVersion, "the caller's configuration is not changed")
	})

	t.Run("a certificate of an unknown authority is refused", func(t *testing.T) {
		server, _, hits := receiver(t, ok)
		_, err := post(t, NewClient(Options{AllowLoopback: true}), server.URL)
		var unknown x509.UnknownAuthorityError
		require.ErrorAs(t, err, &unknown)
		require.Zero(t, hits.Load())
	})
}

// lossy is a connection that loses what is sent while it is silent, without an error.
type lossy struct {
	net.Conn
	silent *atomic.Bool
}

func (l lossy) Write(p []byte) (int, error) {
	if l.silent.Load() {
		return len(p), nil
	}
	return l.Conn.Write(p)
}

// forward accepts the next connection and forwards it to the address until the test ends or silent is set.
func forward(t *testing.T, listener net.Listener, address string, silent *atomic.Bool) {
	t.Helper()
	down, err := listener.Accept()
	if err != nil {
		return // The test has ended.
	}
	t.Cleanup(func() { _ = down.Close() })
	up, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		return
	}
	t.Cleanup(func() { _ = up.Close() })
	go func() { _, _ = io.Copy(lossy{up, silent}, down) }()
	go func() { _, _ = io.Copy(lossy{down, silent}, up) }()
}

func TestAConnectionThatBecomesSilentIsReplaced(t *testing.T) {
	t.Parallel()
	server, roots, _ := receiver(t, ok)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	var silent atomic.Bool
	go func() {
		forward(t, listener, server.Listener.Addr().String(), &silent)
		forward(t, listener, server.Listener.Addr().String(), new(atomic.Bool))
	}()
	client := NewClient(Options{TLS: roots, AllowLoopback: true, Timeout: time.Second})
	target := "https://" + listener.Addr().String()
	_, err = post(t, client, target)
	require.NoError(t, err)

	silent.Store(true)
	began := time.Now()
	_, err = post(t, client, target)
	require.Error(t, err, "the connection is still used")
	for err != nil {
		require.Less(t, time.Since(began), 30*time.Second)
		_, err = post(t, client, target)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	t.Run("time", func(t *testing.T) {
		release := make(chan struct{})
		server, roots, _ := receiver(t, func(http.ResponseWriter, *http.Request) { <-release })
		defer close(release)
		_, err := post(t, NewClient(Options{TLS: roots, AllowLoopback: true, Timeout: 100 * time.Millisecond}), server.URL)
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})

	t.Run("time to connect, TLS handshake included", func(t *testing.T) {
		silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = silent.Close() })
		client := NewClient(Options{AllowLoopback: true, Timeout: time.Hour, ConnectTimeout: 50 * time.Millisecond})
		_, err = post(t, client, "https://"+silent.Addr().String())
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})

	t.Run("time to connect, the resolver included", func(t *testing.T) {
		unanswered := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		client := NewClient(Options{
			Timeout: time.Hour, ConnectTimeout: 50 * time.Millisecond, Resolver: &net.Resolver{PreferGo: true, Dial: unanswered},
		})
		_, err := post(t, client, "https://receiver.example.com/")
		var dns *net.DNSError
		require.ErrorAs(t, err, &dns)
	})

	t.Run("response headers", func(t *testing.T) {
		server, roots, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Large", strings.Repeat("a", 2*maxHeaderBytes))
		})
		_, err := post(t, NewClient(Options{TLS: roots, AllowLoopback: true}), server.URL)
		require.Error(t, err)
	})

	t.Run("a compressed body stays compressed", func(t *testing.T) {
		server, roots, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "" {
				w.WriteHeader(http.StatusTeapot)
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 1<<20))
			_ = z.Close()
		})
		res, err := post(t, NewClient(Options{TLS: roots, AllowLoopback: true}), server.URL)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.status, "no encoding is requested")
		require.Less(t, len(res.body), 1<<14)
	})
}
