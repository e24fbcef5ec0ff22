package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

func (p *platform) promisesOfDelivery(t *testing.T) {
	s := p.newShop(t, false)
	s.promisesOfAddresses(t, s.makeKey(t, nil).GetKey().GetId())
	hook := s.hook(t)
	sent := s.recorded(t, s.key, idOf(s.place(t)), "order.created")[0]
	var first *inbox.Delivery
	arrived := func(t *testing.T) inbox.Delivery {
		t.Helper()
		if first == nil {
			found := hook.of(t, sent.ID)
			first = &found
		}
		return *first
	}
	t.Run("a webhook is a POST of the envelope to the key's URL", func(t *testing.T) {
		require.Equal(t, hook.path, arrived(t).Path)
		require.Equal(t, sent.raw, arrived(t).Raw)
	})
	t.Run("its Content-Type is application/json", func(t *testing.T) {
		require.Equal(t, "application/json", arrived(t).Headers["Content-Type"])
	})
	t.Run("Service-Event-Id is the event's id", func(t *testing.T) {
		require.Equal(t, sent.ID, arrived(t).Headers["Service-Event-Id"])
	})
	t.Run("Service-Signature has the time and the hexadecimal HMAC", func(t *testing.T) {
		require.Regexp(t, `^t=\d{10},v1=[0-9a-f]{64}$`, arrived(t).Headers["Service-Signature"])
	})
	t.Run("v1 is the HMAC-SHA256 of time, dot and body, keyed with the secret as it is written", func(t *testing.T) {
		at, claimed, _ := strings.Cut(strings.TrimPrefix(arrived(t).Headers["Service-Signature"], "t="), ",v1=")
		mac := hmac.New(sha256.New, []byte(hook.secret))
		mac.Write([]byte(at + "." + arrived(t).Raw))
		require.Equal(t, hex.EncodeToString(mac.Sum(nil)), claimed)
	})
	t.Run("the time is the receiver's within five minutes", func(t *testing.T) {
		require.True(t, signed(arrived(t), hook.secret))
		late := arrived(t)
		late.ReceivedAt = late.ReceivedAt.Add(inbox.Tolerance + 10*time.Second)
		require.False(t, signed(late, hook.secret))
	})
	t.Run("a retried event holds no newer one back", func(t *testing.T) { s.promiseOfNewerEvents(t) })
	p.promisesOfAccessOff(t)
}

// promisesOfAccessOff is of a tenant whose access is switched off and on again.
func (p *platform) promisesOfAccessOff(t *testing.T) {
	off, on := func(settings *tenantsv1.PutTenantRequest) { settings.ApiAccess = false }, func(*tenantsv1.PutTenantRequest) {}
	t.Run("while access is off events are recorded", func(t *testing.T) {
		s := p.newShop(t, false)
		before := idOf(s.place(t))
		s.putTenant(t, off)
		s.refusesKey(t, s.key)
		placed := s.placedBy(t, clerk)
		s.cancelledBy(t, clerk, before)
		s.putTenant(t, on)
		s.changed(t, before, "PROCESSING", "order.created", "order.status_changed")
		for id, kinds := range map[string][]string{placed: {"order.created"}, before: {"order.created", "order.status_changed"}} {
			events := s.recorded(t, s.key, id, kinds...)
			last := answer{body: events[len(events)-1].raw}.object(t)
			require.Equal(t, s.read(t, "/orders/"+id)["updatedAt"], last["occurredAt"], "of the change, not of the access")
		}
	})
	t.Run("while access is off webhooks pause, and are sent when it is back", func(t *testing.T) {
		s, other := p.newShop(t, false), p.newShop(t, false)
		paused, open := s.hook(t), other.hook(t)
		first := s.recorded(t, s.key, idOf(s.place(t)), "order.created")[0].ID
		paused.of(t, first)
		s.putTenant(t, off)
		placed := []string{s.placedBy(t, clerk), s.placedBy(t, s.member)}
		wait := func() bool {
			pending := paused.log(t, webhookv1.DeliveryState_DELIVERY_STATE_PENDING)
			return len(pending) == len(placed) && !slices.ContainsFunc(pending, func(d *webhookv1.Delivery) bool { return d.GetAttempts() > 0 })
		}
		require.Eventually(t, wait, slow, 50*time.Millisecond, "deliveries wait")
		for range 3 {
			// What another tenant is sent gives the sender time.
			open.of(t, other.recorded(t, other.key, idOf(other.place(t)), "order.created")[0].ID)
		}
		require.True(t, wait(), "the pause costs no attempt")
		require.False(t, slices.ContainsFunc(paused.all(t), func(d inbox.Delivery) bool { return d.Headers["Service-Event-Id"] != first }),
			"only what was before has arrived")
		s.putTenant(t, on)
		require.Eventually(t, func() bool { return len(paused.all(t)) > len(placed) }, 2*slow, 50*time.Millisecond, "they are sent")
		for _, id := range placed {
			sent := s.recorded(t, s.key, id, "order.created")[0]
			require.Equal(t, sent.raw, paused.of(t, sent.ID).Raw)
		}
	})
}

// log is what the platform says of the key's deliveries in the state.
func (h *hooked) log(t *testing.T, state webhookv1.DeliveryState) []*webhookv1.Delivery {
	t.Helper()
	listed, err := webhookv1.NewWebhookOperationsServiceClient(h.platform.dial(t, "GIFTING_GRPC_WEBHOOK")).ListDeliveries(t.Context(),
		&webhookv1.ListDeliveriesRequest{TenantId: h.tenant, KeyId: h.keyID, State: &state})
	require.NoError(t, err)
	return listed.GetDeliveries()
}

// cancelledBy has a person cancel the order.
func (s *shop) cancelledBy(t *testing.T, actor *commonv1.Actor, orderID string) {
	t.Helper()
	_, err := s.orderOperations(t).CancelOrderAs(t.Context(), &ordersv1.CancelOrderAsRequest{
		Actor: actor, TenantId: s.tenant, OrderId: orderID, Reason: "Called in.",
	})
	require.NoError(t, err)
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
