package conformance_test

import (
	"crypto/rand"
	"net"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local/inbox"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// inboxURL is the address of a receiver that the platform can reach and the test can read.
func inboxURL(t *testing.T, p *platform) string {
	t.Helper()
	if p.Env["GIFTING_INBOX_URL"] == "" {
		leaveOut(t, p, "GIFTING_INBOX_URL names no receiver of webhooks")
	}
	return p.Env["GIFTING_INBOX_URL"]
}

// requireNearby leaves a check out if the platform may not call a receiver in this process.
func requireNearby(t *testing.T, p *platform) {
	t.Helper()
	address, err := url.Parse(inboxURL(t, p))
	require.NoError(t, err)
	if ip := net.ParseIP(address.Hostname()); ip == nil || !ip.IsLoopback() {
		leaveOut(t, p, "webhooks of this platform do not go to this machine")
	}
}

// receiver is a key whose webhooks go to a path of their own.
type receiver struct {
	platform          *platform
	tenant            string
	key, secret, path string
	keyID             int32
}

// newReceiver makes one. Where there is no inbox, the key has no address, and the checks of what arrived are left out.
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

// all is what arrived, oldest first.
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
	return inbox.Verify(secret, d.Headers[inbox.SignatureHeader], []byte(d.Raw), d.ReceivedAt)
}
