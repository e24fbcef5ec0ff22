package conformance_test

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

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local/inbox"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

func testDelivery(t *testing.T, p *platform) {
	f := newFixture(t, p)
	f.testAddresses(t, f.makeKey(t).GetKey().GetId())
	receiver := f.newReceiver(t)
	sent := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
	var first *inbox.Delivery
	arrived := func(t *testing.T) inbox.Delivery {
		t.Helper()
		if first == nil {
			found := receiver.await(t, sent.ID)
			first = &found
		}
		return *first
	}
	requirement(t, "DEL-1", func(t *testing.T) {
		require.Equal(t, receiver.path, arrived(t).Path)
		require.Equal(t, sent.Raw, arrived(t).Raw)
	})
	requirement(t, "DEL-2", func(t *testing.T) { require.Equal(t, "application/json", arrived(t).Headers["Content-Type"]) })
	requirement(t, "DEL-3", func(t *testing.T) { require.Equal(t, sent.ID, eventOf(arrived(t))) })
	requirement(t, "DEL-4", func(t *testing.T) {
		require.Regexp(t, `^t=\d{10},v1=[0-9a-f]{64}$`, arrived(t).Headers["Service-Signature"])
	})
	requirement(t, "SIG-1", func(t *testing.T) {
		at, claimed, _ := strings.Cut(strings.TrimPrefix(arrived(t).Headers["Service-Signature"], "t="), ",v1=")
		mac := hmac.New(sha256.New, []byte(receiver.secret))
		mac.Write([]byte(at + "." + arrived(t).Raw))
		require.Equal(t, hex.EncodeToString(mac.Sum(nil)), claimed)
	})
	requirement(t, "SIG-2", func(t *testing.T) {
		require.True(t, signedWith(arrived(t), receiver.secret))
		late := arrived(t)
		late.ReceivedAt = late.ReceivedAt.Add(inbox.Tolerance + 10*time.Second)
		require.False(t, signedWith(late, receiver.secret))
	})
	requirement(t, "DEL-11", func(t *testing.T) { f.testNewerEvents(t) })
	testAccessOff(t, p)
}

// testAccessOff switches the access of a tenant off and on again.
func testAccessOff(t *testing.T, p *platform) {
	requirement(t, "DEL-13", func(t *testing.T) {
		f := newFixture(t, p)
		before := idOf(f.place(t))
		f.putTenant(t, withoutAccess)
		f.requireRefused(t, f.key)
		placed := f.placedBy(t, operator)
		f.cancelAs(t, operator, before)
		f.putTenant(t)
		f.requireStatusChange(t, before, "PROCESSING", "order.created", "order.status_changed")
		for id, kinds := range map[string][]string{placed: {"order.created"}, before: {"order.created", "order.status_changed"}} {
			events := f.requireEvents(t, f.key, id, kinds...)
			last := events[len(events)-1].Object(t)
			require.Equal(t, f.read(t, "/orders/"+id)["updatedAt"], last["occurredAt"], "of the change, not of the access")
		}
	})
	requirement(t, "DEL-12", func(t *testing.T) {
		f, other := newFixture(t, p), newFixture(t, p)
		paused, open := f.newReceiver(t), other.newReceiver(t)
		first := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0].ID
		paused.await(t, first)
		f.putTenant(t, withoutAccess)
		placed := []string{f.placedBy(t, operator), f.placedBy(t, f.member)}
		wait := func() bool {
			pending := webhookv1.DeliveryState_DELIVERY_STATE_PENDING
			listed, err := f.Webhooks(t).ListDeliveries(t.Context(), &webhookv1.ListDeliveriesRequest{
				TenantId: f.tenant, KeyId: paused.keyID, State: &pending,
			})
			require.NoError(t, err)
			attempted := slices.ContainsFunc(listed.GetDeliveries(), func(d *webhookv1.Delivery) bool { return d.GetAttempts() > 0 })
			return len(listed.GetDeliveries()) == len(placed) && !attempted
		}
		require.Eventually(t, wait, harness.Slow, 50*time.Millisecond, "deliveries wait")
		for range 3 {
			// What another tenant is sent gives the sender time.
			open.await(t, other.requireEvents(t, other.key, idOf(other.place(t)), "order.created")[0].ID)
		}
		require.True(t, wait(), "the pause costs no attempt")
		require.False(t, slices.ContainsFunc(paused.all(t), func(d inbox.Delivery) bool { return eventOf(d) != first }),
			"only what was before has arrived")
		f.putTenant(t)
		require.Eventually(t, func() bool { return len(paused.all(t)) > len(placed) }, 2*harness.Slow, 50*time.Millisecond, "they are sent")
		for _, id := range placed {
			sent := f.requireEvents(t, f.key, id, "order.created")[0]
			require.Equal(t, sent.Raw, paused.await(t, sent.ID).Raw)
		}
	})
}

// testAddresses is about where webhooks may go.
func (f *fixture) testAddresses(t *testing.T, keyID int32) {
	for id, addresses := range map[string][]string{
		"DEL-5": {"http://example.com/hook", "ftp://example.com/hook", "example.com/hook"},
		"DEL-6": {"https://10.0.0.1/hook", "https://192.168.1.1/hook", "https://169.254.169.254/hook", "https://[fd00::1]/hook"},
	} {
		requirement(t, id, func(t *testing.T) {
			for _, address := range addresses {
				_, err := f.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: keyID, Url: &address})
				require.Error(t, err, address)
			}
		})
	}
}

// testNewerEvents has a receiver that refuses the first event. The second arrives nevertheless.
func (f *fixture) testNewerEvents(t *testing.T) {
	requireNearby(t, f.platform)
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
	f.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.WebhookUrl = &receiver.URL })
	f.place(t)
	require.Eventually(t, func() bool { return calls.Load() == 1 }, harness.Slow, 20*time.Millisecond)
	newer := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
	select {
	case id := <-second:
		require.Equal(t, newer.ID, id)
	case <-time.After(harness.Slow):
		require.Fail(t, "the newer event has not arrived")
	}
}
