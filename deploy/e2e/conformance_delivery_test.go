package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func (p *platform) promisesOfDelivery(t *testing.T) {
	s := p.newShop(t, false)
	s.promisesOfAddresses(t, s.makeKey(t, nil).GetKey().GetId())
	hook := s.hook(t)
	sent := s.recorded(t, s.key, idOf(s.place(t)), "order.created")[0]
	arrived := hook.of(t, sent.ID)
	t.Run("a webhook is a POST of the envelope to the key's URL", func(t *testing.T) {
		require.Equal(t, hook.path, arrived.Path)
		require.Equal(t, sent.raw, arrived.Raw)
	})
	t.Run("its Content-Type is application/json", func(t *testing.T) {
		require.Equal(t, "application/json", arrived.Headers["Content-Type"])
	})
	t.Run("Service-Event-Id is the event's id", func(t *testing.T) { require.Equal(t, sent.ID, arrived.Headers["Service-Event-Id"]) })
	header := arrived.Headers["Service-Signature"]
	t.Run("Service-Signature has the time and the hexadecimal HMAC", func(t *testing.T) {
		require.Regexp(t, `^t=\d{10},v1=[0-9a-f]{64}$`, header)
	})
	t.Run("v1 is the HMAC-SHA256 of time, dot and body, keyed with the secret as it is written", func(t *testing.T) {
		at, claimed, _ := strings.Cut(strings.TrimPrefix(header, "t="), ",v1=")
		mac := hmac.New(sha256.New, []byte(hook.secret))
		mac.Write([]byte(at + "." + arrived.Raw))
		require.Equal(t, hex.EncodeToString(mac.Sum(nil)), claimed)
	})
	t.Run("the time is the receiver's within five minutes", func(t *testing.T) {
		require.True(t, signed(arrived, hook.secret))
		late := arrived
		late.ReceivedAt = late.ReceivedAt.Add(inbox.Tolerance + 10*time.Second)
		require.False(t, signed(late, hook.secret))
	})
	t.Run("a retried event holds no newer one back", func(t *testing.T) { s.promiseOfNewerEvents(t) })
	t.Run("while access is off events are recorded", func(t *testing.T) {
		quiet := p.newShop(t, false)
		waiting := quiet.hook(t)
		quiet.putTenant(t, func(settings *tenantsv1.PutTenantRequest) { settings.ApiAccess = false })
		placed := quiet.placedBy(t, clerk)
		require.Empty(t, waiting.all(t))
		quiet.putTenant(t, func(*tenantsv1.PutTenantRequest) {})
		recorded := quiet.recorded(t, quiet.key, placed, "order.created")[0]
		waiting.of(t, recorded.ID)
	})
}

// promisesOfAddresses is of where webhooks may go.
func (s *shop) promisesOfAddresses(t *testing.T, keyID int32) {
	t.Run("a webhook URL must be HTTPS", func(t *testing.T) {
		for _, address := range []string{"http://example.com/hook", "ftp://example.com/hook", "example.com/hook"} {
			_, err := s.operations(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: keyID, Url: &address})
			require.Error(t, err, address)
		}
	})
	t.Run("a webhook URL must lead to a public address", func(t *testing.T) {
		for _, address := range []string{"https://10.0.0.1/hook", "https://192.168.1.1/hook", "https://169.254.169.254/hook", "https://[fd00::1]/hook"} {
			_, err := s.operations(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: keyID, Url: &address})
			require.Error(t, err, address)
		}
	})
}

// promiseOfNewerEvents has a receiver that refuses the first event: the second arrives all the same.
func (s *shop) promiseOfNewerEvents(t *testing.T) {
	s.nearby(t)
	var calls atomic.Int32
	second := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		select {
		case second <- r.Header.Get("Service-Event-Id"):
		default:
		}
	}))
	t.Cleanup(receiver.Close)
	s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.WebhookUrl = &receiver.URL })
	s.place(t)
	require.Eventually(t, func() bool { return calls.Load() == 1 }, slow, 20*time.Millisecond)
	newer := s.recorded(t, s.key, idOf(s.place(t)), "order.created")[0]
	select {
	case id := <-second:
		require.Equal(t, newer.ID, id)
	case <-time.After(slow):
		require.Fail(t, "the newer event has not arrived")
	}
}
