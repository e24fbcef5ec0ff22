// Package gatewaytest runs a gateway in front of fake services that a test controls.
package gatewaytest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
)

// Patience is how long a test waits for an expected event.
const Patience = 10 * time.Second

// Fixture is a gateway in front of services, and a caller with a valid API key.
type Fixture struct {
	*Services

	// BaseURL is the base URL of the API.
	BaseURL string
	Key     string
	// ClientIP is the client address that a trusted proxy reports. No two fixtures share one.
	ClientIP string
	// Shutdown begins the shutdown of the gateway, WaitForEnd waits until it has ended.
	Shutdown   context.CancelFunc
	WaitForEnd func() error

	environment apikey.Environment
	t           *testing.T
}

// Options of a fixture. The zero value is for most tests.
type Options struct {
	// Services are shared by several gateways; nil: the fixture has its own.
	Services  *Services
	Telemetry *telemetry.Telemetry
	// Configure changes the configuration of the gateway.
	Configure func(cfg *gateway.Config)
}

// New starts a gateway with its own services.
func New(t *testing.T) *Fixture {
	t.Helper()
	return NewWith(t, Options{})
}

// NewWith starts a gateway. It ends with the test.
func NewWith(t *testing.T, o Options) *Fixture {
	t.Helper()
	if o.Services == nil {
		o.Services = NewServices(t)
	}
	if o.Telemetry == nil {
		o.Telemetry = telemetry.Discard()
	}
	addr := testenv.FreeAddr(t)
	f := &Fixture{Services: o.Services, BaseURL: "http://" + addr + "/api/public/v1", t: t}
	cfg := gateway.Config{
		HTTPAddr: addr, Environment: apikey.Sandbox, PublicURL: f.BaseURL,
		TenantsAddr: f.addr, CatalogAddr: f.addr, OrdersAddr: f.addr, PersonalLinksAddr: f.addr, EventsAddr: f.addr, WebhookAddr: f.addr,
		RedisURL: testenv.Require(t, testenv.RedisURL), RedisBudget: Patience, // A busy machine is not an outage.
		TrustedProxies: []string{"127.0.0.1"},
		FingerprintKey: []string{base64.StdEncoding.EncodeToString(make([]byte, 32))},
	}
	if o.Configure != nil {
		o.Configure(&cfg)
	}
	f.environment = cfg.Environment
	g, err := gateway.New(t.Context(), cfg, o.Telemetry)
	require.NoError(t, err)
	f.Shutdown, f.WaitForEnd = run(t, g.Run)
	f.UseNewCaller()
	require.Eventually(t, f.answers, Patience, 5*time.Millisecond)
	return f
}

// UseNewCaller gives the fixture a new API key and a new client address, so that no limit is used up.
func (f *Fixture) UseNewCaller() {
	f.Key, f.ClientIP = apikey.New(f.environment), newIP()
}

// For returns the fixture for a subtest.
func (f *Fixture) For(t *testing.T) *Fixture {
	t.Helper()
	sub := *f
	sub.t = t
	return &sub
}

// newIP returns an address that no other test uses, because all tests share Redis.
func newIP() string {
	raw := uuid.New()
	raw[0] = 0xfd
	return netip.AddrFrom16(raw).String()
}

// run runs a server until the test ends, or until shutdown is called. waitForEnd waits until the server has ended.
func run(t *testing.T, server func(ctx context.Context) error) (shutdown context.CancelFunc, waitForEnd func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server(ctx) }()
	waitForEnd = sync.OnceValue(func() error { return <-done })
	t.Cleanup(func() {
		cancel()
		require.NoError(t, waitForEnd())
	})
	return cancel, waitForEnd
}

// Answer is a response of the gateway. Parsed is its JSON object, if it is one.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	Parsed map[string]any
}

// Do sends a request with the key of the fixture. Headers are pairs of name and value, and replace the usual ones; an empty
// value removes the header.
func (f *Fixture) Do(method, path, body string, headers ...string) Answer {
	f.t.Helper()
	return f.DoReader(method, path, strings.NewReader(body), headers...)
}

// DoReader is Do with a body that is sent in chunks, unless it is a strings.Reader.
func (f *Fixture) DoReader(method, path string, body io.Reader, headers ...string) Answer {
	f.t.Helper()
	return f.Send(http.DefaultClient.Do, f.Request(method, path, body, headers...))
}

// Request is a request as Do sends it.
func (f *Fixture) Request(method, path string, body io.Reader, headers ...string) *http.Request {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.BaseURL+path, body)
	require.NoError(f.t, err)
	req.Header.Set("Authorization", "Bearer "+f.Key)
	req.Header.Set("X-Forwarded-For", f.ClientIP)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", uuid.NewString())
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
		if pair[1] == "" {
			req.Header.Del(pair[0])
		}
	}
	return req
}

// Send sends a request and reads the response.
func (f *Fixture) Send(send func(*http.Request) (*http.Response, error), req *http.Request) Answer {
	f.t.Helper()
	resp, err := send(req)
	require.NoError(f.t, err)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	require.NoError(f.t, resp.Body.Close())
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(raw)}
	if bytes.HasPrefix(raw, []byte("{")) {
		require.NoError(f.t, json.Unmarshal(raw, &a.Parsed))
	}
	return a
}

// answers reports whether the gateway and its services have begun.
func (f *Fixture) answers() bool {
	resp, err := http.DefaultClient.Do(f.Request(http.MethodGet, "/me", http.NoBody))
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// ExhaustRateLimit sends requests with the key of the fixture until one answers 429.
func (f *Fixture) ExhaustRateLimit() {
	f.t.Helper()
	for {
		if got := f.Do("GET", "/me", ""); got.Status != http.StatusOK {
			require.Equal(f.t, http.StatusTooManyRequests, got.Status, got.Body)
			return
		}
	}
}
