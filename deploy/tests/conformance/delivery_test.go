package conformance_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
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
		late.ReceivedAt = late.ReceivedAt.Add(gifting.DefaultTolerance + 10*time.Second)
		require.False(t, signedWith(late, receiver.secret))
	})
	requirement(t, "DEL-11", func(t *testing.T) { f.testNewerEvents(t) })
	requirement(t, "DEL-14", func(t *testing.T) { f.testHostileTexts(t, receiver) })
	testAccessOff(t, p)
}

// hostile has the characters that encoders of JSON write in different ways.
const hostile = "<b>&amp;</b> \"quoted\" 'text' \\ / \u2028\u2029\u00a0\ufffd 🎁"

// testHostileTexts puts such a text into every text of an order, a message and a link, and compares what arrives with the feed.
func (f *fixture) testHostileTexts(t *testing.T, to *receiver) {
	t.Helper()
	gift := f.putGift(t, hostile)
	gift.Name, gift.CustomizationAvailable = hostile, true
	f.putProduct(t, gift)
	var changes []change
	for _, text := range orderTexts {
		if text.path != "recipient.address.postalCode" {
			changes = append(changes, with(text.path, hostile))
		}
	}
	named := f.newKey(t, func(key *tenantsv1.CreateKeyRequest) { key.Name = hostile })
	var sent []event
	for _, of := range [][]change{
		{ofGift(gift.GetId(), record{"Size": hostile}), with("customization", record{"details": hostile})},
		{custom("1.00", "SEK"), with("items.0.customProductName", hostile)},
	} {
		id := idOf(f.place(t, slices.Concat(changes, of, []change{with("externalOrderId", rand.Text()+hostile)})...))
		f.Post(t, named, "/orders/"+id+"/messages", harness.JSON(t, record{"body": hostile + "\n\t"})).OK(t)
		f.Post(t, f.key, "/orders/"+id+":cancel", harness.JSON(t, record{"reason": hostile + "\n\t"})).OK(t)
		sent = append(sent, f.requireEvents(t, f.key, id, "order.created", "order.message_posted", "order.status_changed")...)
	}
	link := f.link(t, with("recipients.0.externalRecipientId", hostile), with("recipients.0.label", hostile))
	f.Post(t, f.key, "/personal-links/"+idOf(link)+":cancel", harness.JSON(t, record{"reason": hostile})).OK(t)
	for _, e := range append(sent, f.requireEvents(t, f.key, idOf(link), "personal_link.created", "personal_link.cancelled")...) {
		arrived := to.await(t, e.ID)
		require.Equal(t, e.Raw, arrived.Raw)
		require.True(t, signedWith(arrived, to.secret), e.Raw)
		var texts []string
		eachText(e.Object(t), func(text string) { texts = append(texts, text) })
		require.True(t, slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, hostile) }), e.Raw)
	}
}

// eachText visits the texts in the content.
func eachText(content any, visit func(text string)) {
	switch content := content.(type) {
	case string:
		visit(content)
	case []any:
		for _, element := range content {
			eachText(element, visit)
		}
	case record:
		for _, value := range content {
			eachText(value, visit)
		}
	}
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
			require.Equal(t, f.read(t, "/orders/"+id)["updatedAt"], last["occurredAt"], "the time of the change, not of the access")
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
				Actor: operator, TenantId: f.tenant, KeyId: paused.keyID, State: &pending,
			})
			require.NoError(t, err)
			attempted := slices.ContainsFunc(listed.GetDeliveries(), func(d *webhookv1.Delivery) bool { return d.GetAttempts() > 0 })
			return len(listed.GetDeliveries()) == len(placed) && !attempted
		}
		require.Eventually(t, wait, harness.Slow, 50*time.Millisecond, "deliveries wait")
		for range 3 {
			// The webhook of another tenant shows that the sender had time.
			open.await(t, other.requireEvents(t, other.key, idOf(other.place(t)), "order.created")[0].ID)
		}
		require.True(t, wait(), "the pause costs no attempt")
		require.False(t, slices.ContainsFunc(paused.all(t), func(d inbox.Delivery) bool { return eventOf(d) != first }),
			"only the earlier events have arrived")
		f.putTenant(t)
		require.Eventually(t, func() bool { return len(paused.all(t)) > len(placed) }, 2*harness.Slow, 50*time.Millisecond,
			"they are sent")
		for _, id := range placed {
			sent := f.requireEvents(t, f.key, id, "order.created")[0]
			require.Equal(t, sent.Raw, paused.await(t, sent.ID).Raw)
		}
	})
}

// testAddresses checks the allowed addresses of webhooks.
func (f *fixture) testAddresses(t *testing.T, keyID int32) {
	for id, addresses := range map[string][]string{
		"DEL-5": {"http://example.com/hook", "ftp://example.com/hook", "example.com/hook"},
		"DEL-6": {"https://10.0.0.1/hook", "https://192.168.1.1/hook", "https://169.254.169.254/hook", "https://[fd00::1]/hook"},
	} {
		requirement(t, id, func(t *testing.T) {
			for _, address := range addresses {
				_, err := f.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
					Actor: operator, TenantId: f.tenant, KeyId: keyID, Url: &address,
				})
				require.Error(t, err, address)
			}
		})
	}
}

// testNewerEvents uses a receiver that refuses the first event. The second must arrive.
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

// inboxURL is the address of a receiver that the platform can reach and the test can read.
func inboxURL(t *testing.T, p *platform) string {
	t.Helper()
	if p.Env["GIFTING_INBOX_URL"] == "" {
		leaveOut(t, p, "GIFTING_INBOX_URL names no receiver of webhooks")
	}
	return p.Env["GIFTING_INBOX_URL"]
}

// requireNearby skips a check if the platform cannot call a receiver in this process.
func requireNearby(t *testing.T, p *platform) {
	t.Helper()
	address, err := url.Parse(inboxURL(t, p))
	require.NoError(t, err)
	if ip := net.ParseIP(address.Hostname()); ip == nil || !ip.IsLoopback() {
		leaveOut(t, p, "webhooks of this platform do not go to this machine")
	}
}

// receiver is a key whose webhooks go to their own path.
type receiver struct {
	platform          *platform
	tenant            string
	key, secret, path string
	keyID             int32
}

// newReceiver makes a receiver. Without an inbox the key has no address, and checks of arrived webhooks are skipped.
func (f *fixture) newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{platform: f.platform, tenant: f.tenant, path: "/" + rand.Text()}
	made := f.makeKey(t, func(key *tenantsv1.CreateKeyRequest) {
		if address := f.Env["GIFTING_INBOX_URL"]; address != "" {
			address += r.path
			key.WebhookUrl = &address
		}
	})
	r.key, r.secret, r.keyID = made.GetApiKey(), made.GetWebhookSecret(), made.GetKey().GetId()
	return r
}

// all returns the webhooks that arrived, oldest first.
func (r *receiver) all(t *testing.T) []inbox.Delivery {
	t.Helper()
	inboxURL(t, r.platform)
	return r.platform.Deliveries(t, r.path)
}

// await waits for an event.
func (r *receiver) await(t *testing.T, eventID string) inbox.Delivery {
	t.Helper()
	inboxURL(t, r.platform)
	var found inbox.Delivery
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(r.all(t), func(d inbox.Delivery) bool {
			found = d
			return eventOf(d) == eventID
		})
	}, harness.Slow, 50*time.Millisecond, "the event has not arrived")
	r.platform.Validate(t, found)
	return found
}

func eventOf(d inbox.Delivery) string { return d.Headers["Service-Event-Id"] }

func signedWith(d inbox.Delivery, secret string) bool {
	headers := http.Header{}
	for name, value := range d.Headers {
		headers.Set(name, value)
	}
	v := gifting.Verifier{Secrets: []string{secret}, Now: func() time.Time { return d.ReceivedAt }}
	return v.Check([]byte(d.Raw), headers) == nil
}

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
		// Only deliveries in the log can be retried.
		log, err := f.Webhooks(t).ListDeliveries(t.Context(), &webhookv1.ListDeliveriesRequest{
			Actor: operator, TenantId: f.tenant, KeyId: failing.GetKey().GetId(),
		})
		require.NoError(t, err)
		for _, delivery := range log.GetDeliveries() {
			require.NotEqual(t, "ping", delivery.GetEventType())
		}
	})
}
