package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

func testWebhookTests(t *testing.T, p *platform) {
	f := newFixture(t, p)
	test := func(t *testing.T, key string) record {
		t.Helper()
		return f.Post(t, key, "/webhooks:test", "").OK(t)
	}
	requirement(t, "WHT-1", func(t *testing.T) {
		bare := f.postCall("/webhooks:test", "")
		bare.Header = map[string]string{"Idempotency-Key": ""}
		f.Do(t, bare).Problem(t, "idempotency_key_required")
	})
	requirement(t, "WHT-6", func(t *testing.T) {
		result := test(t, f.key)
		require.Nil(t, result["responseStatus"])
		require.Contains(t, result["error"], "no webhook URL")
	})
	requirement(t, "WHT-8", func(t *testing.T) {
		f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")
		require.Len(t, f.Feed(t, f.key), 1)
	})
	receiver := f.newReceiver(t)
	requirement(t, "WHT-3", func(t *testing.T) {
		inboxURL(t, f.platform)
		require.Equal(t, record{"responseStatus": 204.0, "error": nil}, test(t, receiver.key))
	})
	requirement(t, "WHT-2", func(t *testing.T) {
		arrived := receiver.all(t)
		require.Len(t, arrived, 1)
		require.Equal(t, "ping", harness.Object(t, []byte(arrived[0].Raw))["type"])
		require.True(t, signedWith(arrived[0], receiver.secret))
		require.NotEmpty(t, eventOf(arrived[0]))
		p.Validate(t, arrived...)
	})
	f.testFailingTests(t, test)
}

// testFailingTests sends pings to receivers that do not accept them.
func (f *fixture) testFailingTests(t *testing.T, test func(t *testing.T, key string) record) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(refusing.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	to := func(t *testing.T, address string) *tenantsv1.CreateKeyResponse {
		t.Helper()
		requireNearby(t, f.platform)
		return f.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.WebhookUrl = &address })
	}
	requirement(t, "WHT-4", func(t *testing.T) {
		result := test(t, to(t, refusing.URL).GetApiKey())
		require.InDelta(t, http.StatusTeapot, result["responseStatus"], 0)
		require.Contains(t, result["error"], strconv.Itoa(http.StatusTeapot))
	})
	requirement(t, "WHT-5", func(t *testing.T) {
		result := test(t, to(t, gone.URL).GetApiKey())
		require.Nil(t, result["responseStatus"])
		require.NotEmpty(t, result["error"])
	})
	requirement(t, "WHT-7", func(t *testing.T) {
		failing := to(t, refusing.URL)
		require.InDelta(t, http.StatusTeapot, test(t, failing.GetApiKey())["responseStatus"], 0)
		// Only what is in the log of deliveries can be retried.
		log, err := f.Webhooks(t).ListDeliveries(t.Context(), &webhookv1.ListDeliveriesRequest{TenantId: f.tenant, KeyId: failing.GetKey().GetId()})
		require.NoError(t, err)
		for _, delivery := range log.GetDeliveries() {
			require.NotEqual(t, "ping", delivery.GetEventType())
		}
	})
}
