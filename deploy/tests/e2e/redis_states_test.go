//go:build faults

package e2e_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// redisState is what Redis does while settings change.
type redisState struct {
	name       string
	begin, end func(ctx context.Context) error
	// answered runs when a change was answered.
	answered func(ctx context.Context) error
}

func redisStates(client *redis.Client, proxy *toxiproxy.Proxy) []redisState {
	nothing := func(context.Context) error { return nil }
	config := func(name, value string) func(ctx context.Context) error {
		return func(ctx context.Context) error { return client.ConfigSet(ctx, name, value).Err() }
	}
	replica := func(of ...any) func(ctx context.Context) error {
		return func(ctx context.Context) error { return client.Do(ctx, append([]any{"REPLICAOF"}, of...)...).Err() }
	}
	down := func(context.Context) error { proxy.Stop(); return nil }
	up := func(context.Context) error { return proxy.Start() }
	slow := func(context.Context) error {
		_, err := proxy.Toxics.AddToxicJson(strings.NewReader(`{"type": "latency", "attributes": {"latency": 300}}`))
		return err
	}
	quick := func(ctx context.Context) error { proxy.Toxics.ResetToxics(ctx); return nil }
	flush := func(ctx context.Context) error { return client.FlushAll(ctx).Err() }
	return []redisState{
		{"up", nothing, nothing, nothing},
		{"down", down, up, nothing},
		{"slow", slow, quick, nothing},
		{"read-only", replica("127.0.0.1", "1"), replica("NO", "ONE"), nothing},
		{"full", config("maxmemory", "1"), config("maxmemory", "0"), nothing},
		{"lost", flush, nothing, flush},
	}
}

// hook is a receiver of webhooks and the key that it belongs to.
type hook struct {
	*tenantsv1.CreateKeyResponse
	tenant, order, url string

	lock sync.Mutex
	// signed are the times in the signatures of the webhooks that arrived under the first URL and secret of the key.
	signed []time.Time
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	at, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Service-Signature"), "t="), ",")
	mac := hmac.New(sha256.New, []byte(h.GetWebhookSecret()))
	mac.Write([]byte(at + "." + string(body)))
	seconds, _ := strconv.ParseInt(at, 10, 64)
	if r.URL.Path == "/" && strings.Contains(r.Header.Get("Service-Signature"), "v1="+hex.EncodeToString(mac.Sum(nil))) {
		h.lock.Lock()
		defer h.lock.Unlock()
		h.signed = append(h.signed, time.Unix(seconds, 0))
	}
}

// after are the webhooks that were signed more than a second after a time: the time in a signature has no fraction, and an attempt
// may be in flight.
func (h *hook) after(at time.Time) (found []time.Time) {
	h.lock.Lock()
	defer h.lock.Unlock()
	for _, signed := range h.signed {
		if signed.Sub(at) > time.Second {
			found = append(found, signed)
		}
	}
	return found
}

// newHook makes a key with a receiver.
func (s stack) newHook(t *testing.T, tenant, order string) *hook {
	t.Helper()
	h := &hook{tenant: tenant, order: order}
	server := httptest.NewUnstartedServer(h)
	h.url = "http://" + server.Listener.Addr().String() + "/"
	h.CreateKeyResponse = s.CreateKey(t, &tenantsv1.CreateKeyRequest{
		Actor: seed.Installer, TenantId: tenant, Name: "Redis states", Scopes: harness.AllScopes(), AllBrands: true, WebhookUrl: &h.url,
	})
	server.Start()
	t.Cleanup(server.Close)
	return h
}

// settingsChange is a change of a key or its tenant. It is called with the key, and the brands of its tenant.
type settingsChange struct {
	name, tenant string
	change       func(t *testing.T, h *hook, brands []string) error
	// status is that of a read of the order afterwards.
	status int
}

func (s stack) settingsChanges() []settingsChange {
	return []settingsChange{
		{"revoke", seed.Direct, func(t *testing.T, h *hook, _ []string) error {
			_, err := s.Tenants(t).RevokeKey(t.Context(), &tenantsv1.RevokeKeyRequest{
				Actor: seed.Installer, TenantId: h.tenant, KeyId: h.GetKey().GetId(),
			})
			return err
		}, http.StatusUnauthorized},
		{"rotate", seed.Direct, func(t *testing.T, h *hook, _ []string) error {
			_, err := s.Tenants(t).RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{
				Actor: seed.Installer, TenantId: h.tenant, KeyId: h.GetKey().GetId(),
			})
			return err
		}, http.StatusOK},
		{"rotate by the key", seed.Direct, func(t *testing.T, h *hook, _ []string) error {
			require.NotEmpty(t, s.Post(t, h.GetApiKey(), "/webhooks:rotate-secret", "").OK(t)["secret"])
			return nil
		}, http.StatusOK},
		{"set another URL", seed.Direct, func(t *testing.T, h *hook, _ []string) error {
			_, err := s.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
				Actor: seed.Installer, TenantId: h.tenant, KeyId: h.GetKey().GetId(), Url: new(h.url + "other"),
			})
			return err
		}, http.StatusOK},
		{"other brands", seed.Direct, func(t *testing.T, h *hook, brands []string) error {
			_, err := s.Tenants(t).UpdateKey(t.Context(), &tenantsv1.UpdateKeyRequest{
				Actor: seed.Installer, TenantId: h.tenant, KeyId: h.GetKey().GetId(), Name: "Other brands", Scopes: harness.AllScopes(),
				BrandIds: brands[1:],
			})
			return err
		}, http.StatusNotFound},
		{
			"access off", seed.Approving, func(t *testing.T, h *hook, _ []string) error { return s.setAccess(t, h.tenant, false) },
			http.StatusUnauthorized,
		},
	}
}

func (s stack) setAccess(t *testing.T, tenant string, on bool) error {
	t.Helper()
	got, err := s.Tenants(t).GetTenant(t.Context(), &tenantsv1.GetTenantRequest{Actor: seed.Installer, TenantId: tenant})
	require.NoError(t, err)
	of := got.GetTenant().GetTenant()
	_, err = s.Tenants(t).PutTenant(t.Context(), &tenantsv1.PutTenantRequest{
		Actor: seed.Installer, Id: tenant, Name: of.GetName(), Locales: of.GetLocales(), Currency: of.GetCurrency(),
		ApprovalRequired: of.GetApprovalRequired(), ApiAccess: on,
	})
	return err
}

// TestFaultOfRedisLetsNoChangeOfSettingsBeMissed has a Redis of its own that refuses writes, among other things. From the
// answer to a change on, the gateway accepts nothing, the fan-out sends nothing and the sender signs nothing under the settings
// of before.
func TestFaultOfRedisLetsNoChangeOfSettingsBeMissed(t *testing.T) {
	t.Parallel()
	port, err := deps.FreeRow(t.Context(), 1)
	require.NoError(t, err)
	server, err := deps.StartRedis(t.Context(), deps.RedisConfig{
		Dir: t.TempDir(), Port: port, RequireReal: true, Ephemeral: true, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })
	at, err := url.Parse(server.Address)
	require.NoError(t, err)
	client := redis.NewClient(&redis.Options{Addr: at.Host})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	proxies := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(proxies, "Redis", "127.0.0.1:0", at.Host)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	cfg := harness.NewConfig(t)
	cfg.RedisURL = "redis://" + proxy.Listen
	s := stack{harness.StartWith(t, cfg)}
	for _, state := range redisStates(client, proxy) {
		t.Run(state.name, func(t *testing.T) { s.testRedisState(t, state) })
	}
}

func (s stack) testRedisState(t *testing.T, state redisState) {
	orders, brands := map[string]string{}, map[string][]string{}
	for _, tenant := range []string{seed.Direct, seed.Approving} {
		key := s.NewKey(t, tenant).GetApiKey()
		for _, brand := range s.Array(t, key, "/brands") {
			brands[tenant] = append(brands[tenant], brand["id"].(string))
		}
		order := s.Post(t, key, "/orders", s.Order(t, func(order map[string]any) { order["brandId"] = brands[tenant][0] })).OK(t)
		orders[tenant], _ = order["id"].(string)
	}
	changes := s.settingsChanges()
	control := s.newHook(t, seed.Direct, orders[seed.Direct])
	hooks := make([]*hook, len(changes))
	for i, c := range changes {
		hooks[i] = s.newHook(t, c.tenant, orders[c.tenant])
	}
	require.NoError(t, state.begin(t.Context()))
	defer func() {
		require.NoError(t, state.end(t.Context()))
		require.NoError(t, s.setAccess(t, seed.Approving, true))
	}()
	defer s.converse(t, orders)()
	for _, h := range append(hooks, control) {
		require.Eventually(t, func() bool { return len(h.after(time.Time{})) > 3 }, harness.Slow, 50*time.Millisecond,
			"the settings are known")
		require.Equal(t, http.StatusOK, s.Get(t, h.GetApiKey(), "/orders/"+h.order).Status)
	}
	t.Run("changes", func(t *testing.T) {
		for i, c := range changes {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				h := hooks[i]
				require.NoError(t, c.change(t, h, brands[h.tenant]))
				answered := time.Now()
				require.NoError(t, state.answered(t.Context()))
				require.Equal(t, c.status, s.Get(t, h.GetApiKey(), "/orders/"+h.order).Status)
				require.Eventually(t, func() bool { return len(control.after(answered)) > 5 }, harness.Slow, 50*time.Millisecond)
				require.Empty(t, h.after(answered))
			})
		}
	})
}

// converse posts messages on the orders until it is stopped.
func (s stack) converse(t *testing.T, orders map[string]string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := s.Orders(t)
	var group errgroup.Group
	for tenant, order := range orders {
		group.Go(func() error {
			for tick := time.NewTicker(200 * time.Millisecond); ; {
				_, err := client.PostMessageAs(ctx, &ordersv1.PostMessageAsRequest{
					Actor: seed.Installer, TenantId: tenant, OrderId: order, MessageId: uuid.NewString(), Body: "Soon.",
				})
				if ctx.Err() != nil {
					tick.Stop()
					return nil
				}
				if err != nil {
					return err
				}
				<-tick.C
			}
		})
	}
	return func() {
		cancel()
		require.NoError(t, group.Wait())
	}
}
