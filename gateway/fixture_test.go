package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	redisVariable = "GIFTING_TEST_REDIS_URL"
	startWithin   = 5 * time.Second
)

// fixture is a gateway in front of a backend, and a key that works.
type fixture struct {
	*backend
	t    *testing.T
	base string
	key  string
	// address is where the requests come from, as a trusted proxy says; no two fixtures share one.
	address string
}

func setup(t *testing.T) *fixture {
	t.Helper()
	b := startBackend(t)
	return newFixture(t, b, startGateway(t, b, telemetry.Discard(), nil))
}

func newFixture(t *testing.T, b *backend, base string) *fixture {
	t.Helper()
	f := &fixture{backend: b, t: t, base: base, key: apikey.New(apikey.Sandbox), address: newAddress()}
	require.Eventually(t, func() bool { return f.do("GET", "/me", "").status == 200 }, startWithin, 20*time.Millisecond)
	return f
}

// newAddress makes up an address that no other test has: Redis counts for all of them.
func newAddress() string {
	raw := uuid.New()
	raw[0] = 0xfd
	return netip.AddrFrom16(raw).String()
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// run runs something for the time of the test.
func run(t *testing.T, part func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- part(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

// startGateway runs a gateway in front of b, with its configuration changed if change is given, and
// gives the base address of its API.
func startGateway(t *testing.T, b *backend, tel *telemetry.Telemetry, change func(cfg *gateway.Config)) string {
	t.Helper()
	require.NotEmpty(t, os.Getenv(redisVariable), "set %s or run the tests by `make test`", redisVariable)
	addr := freeAddr(t)
	base := "http://" + addr + "/api/public/v1"
	cfg := gateway.Config{
		HTTPAddr: addr, Environment: apikey.Sandbox, PublicURL: base,
		TenantsAddr: b.addr, CatalogAddr: b.addr, OrdersAddr: b.addr, PersonalLinksAddr: b.addr,
		EventsAddr: b.addr, WebhookAddr: b.addr, RedisURL: os.Getenv(redisVariable),
		TrustedProxies: []string{"127.0.0.1"},
		FingerprintKey: base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}
	if change != nil {
		change(&cfg)
	}
	edge, err := gateway.New(t.Context(), cfg, tel)
	require.NoError(t, err)
	run(t, edge.Run)
	require.Eventually(t, func() bool {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, startWithin, 5*time.Millisecond)
	return base
}

type answer struct {
	status int
	header http.Header
	body   string
	parsed map[string]any
}

// do sends a request with the fixture's key; headers come as name, value pairs and replace it.
func (f *fixture) do(method, path, body string, headers ...string) answer {
	f.t.Helper()
	return f.doReader(method, path, strings.NewReader(body), headers...)
}

// doReader is do with a body that is sent in chunks, unless it is a strings.Reader.
func (f *fixture) doReader(method, path string, body io.Reader, headers ...string) answer {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.base+path, body)
	require.NoError(f.t, err)
	req.Header.Set("Authorization", "Bearer "+f.key)
	req.Header.Set("X-Forwarded-For", f.address)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", uuid.NewString())
	}
	for pair := range slices.Chunk(headers, 2) {
		name, value := pair[0], pair[1]
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(f.t, err)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	require.NoError(f.t, resp.Body.Close())
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(raw)}
	if bytes.HasPrefix(raw, []byte("{")) {
		require.NoError(f.t, json.Unmarshal(raw, &a.parsed))
	}
	return a
}

// spend uses up the requests that the fixture's key has in a minute.
func (f *fixture) spend() {
	f.t.Helper()
	for {
		if got := f.do("GET", "/me", ""); got.status != http.StatusOK {
			require.Equal(f.t, http.StatusTooManyRequests, got.status, got.body)
			return
		}
	}
}
