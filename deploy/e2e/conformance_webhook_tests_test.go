package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

func (p *platform) promisesOfWebhookTests(t *testing.T) {
	s := p.newShop(t, false)
	test := func(t *testing.T, key string) map[string]any {
		t.Helper()
		a := s.post(t, key, "/webhooks:test", "")
		require.Equal(t, http.StatusOK, a.status, a.body)
		return a.object(t)
	}
	t.Run("Idempotency-Key is required for a test", func(t *testing.T) {
		bare := call{method: http.MethodPost, path: "/webhooks:test", key: s.key, header: map[string]string{"Idempotency-Key": ""}}
		requireProblem(t, s.do(t, bare), http.StatusBadRequest, "idempotency_key_required")
	})
	t.Run("a key without webhook URL sends nothing and says so", func(t *testing.T) {
		told := test(t, s.key)
		require.Nil(t, told["responseStatus"])
		require.Contains(t, told["error"], "no webhook URL")
	})
	t.Run("a test does not stand in the feed", func(t *testing.T) {
		s.recorded(t, s.key, idOf(s.place(t)), "order.created")
		require.Len(t, s.feed(t, s.key), 1)
	})
	hook := s.hook(t)
	t.Run("a receiver that answers 2xx gives its status and no error", func(t *testing.T) {
		s.receiver(t)
		require.Equal(t, map[string]any{"responseStatus": 204.0, "error": nil}, test(t, hook.key))
	})
	t.Run("a signed ping is sent at once", func(t *testing.T) {
		arrived := hook.all(t)
		require.Len(t, arrived, 1)
		require.Equal(t, "ping", answer{body: arrived[0].Raw}.object(t)["type"])
		require.True(t, signed(arrived[0], hook.secret))
		require.NotEmpty(t, arrived[0].Headers["Service-Event-Id"])
		p.judgeWebhooks(t, arrived)
	})
	s.promisesOfFailingTests(t, test)
}

// promisesOfFailingTests is of receivers that do not take the ping.
func (s *shop) promisesOfFailingTests(t *testing.T, test func(t *testing.T, key string) map[string]any) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(refusing.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	to := func(t *testing.T, address string) *tenantsv1.CreateKeyResponse {
		t.Helper()
		s.nearby(t)
		return s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.WebhookUrl = &address })
	}
	t.Run("a receiver that answers another status gives it and says so", func(t *testing.T) {
		told := test(t, to(t, refusing.URL).GetApiKey())
		require.InDelta(t, http.StatusTeapot, told["responseStatus"], 0)
		require.Contains(t, told["error"], strconv.Itoa(http.StatusTeapot))
	})
	t.Run("a receiver that cannot be reached gives no status and says so", func(t *testing.T) {
		told := test(t, to(t, gone.URL).GetApiKey())
		require.Nil(t, told["responseStatus"])
		require.NotEmpty(t, told["error"])
	})
	t.Run("a test is not retried", func(t *testing.T) {
		failing := to(t, refusing.URL)
		require.InDelta(t, http.StatusTeapot, test(t, failing.GetApiKey())["responseStatus"], 0)
		// What is retried stands in the log of deliveries first.
		log, err := webhookv1.NewWebhookOperationsServiceClient(s.dial(t, "GIFTING_GRPC_WEBHOOK")).ListDeliveries(t.Context(),
			&webhookv1.ListDeliveriesRequest{TenantId: s.tenant, KeyId: failing.GetKey().GetId()})
		require.NoError(t, err)
		for _, delivery := range log.GetDeliveries() {
			require.NotEqual(t, "ping", delivery.GetEventType())
		}
	})
}
