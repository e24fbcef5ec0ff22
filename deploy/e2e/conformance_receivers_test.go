package e2e_test

import (
	"crypto/rand"
	"net"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// receiver gives the address of one that the platform can reach and the test can read.
func (p *platform) receiver(t *testing.T) string {
	t.Helper()
	address := p.env["GIFTING_INBOX_URL"]
	if address == "" {
		// A sandbox elsewhere need not have a receiver whose mail a test can read; a stack of this process has one.
		p.leaveOut(t, "GIFTING_INBOX_URL names no receiver of webhooks")
	}
	return address
}

// nearby skips a test whose receivers listen in this process, where the platform may not call them.
func (p *platform) nearby(t *testing.T) {
	t.Helper()
	address, err := url.Parse(p.receiver(t))
	require.NoError(t, err)
	if ip := net.ParseIP(address.Hostname()); ip == nil || !ip.IsLoopback() {
		// A platform elsewhere calls no address of this machine: its guard refuses them, as it must.
		p.leaveOut(t, "webhooks of this platform do not go to this machine")
	}
}

// hooked is a key with a path of its own at the receiver.
type hooked struct {
	platform          *platform
	key, secret, path string
	tenant            string
	keyID             int32
}

// hook makes one. Where there is no receiver the key has no address, and the tests that look at what arrived are left out.
func (s *shop) hook(t *testing.T) *hooked {
	t.Helper()
	h := &hooked{platform: s.platform, tenant: s.tenant, path: "/" + rand.Text()}
	made := s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) {
		if receiver := s.env["GIFTING_INBOX_URL"]; receiver != "" {
			address := receiver + h.path
			key.WebhookUrl = &address
		}
	})
	h.key, h.secret, h.keyID = made.GetApiKey(), made.GetWebhookSecret(), made.GetKey().GetId()
	return h
}

// all is what arrived, oldest first.
func (h *hooked) all(t *testing.T) []inbox.Delivery {
	t.Helper()
	h.platform.receiver(t)
	return h.platform.deliveriesOf(t, "?path="+h.path)
}

// of waits for the event.
func (h *hooked) of(t *testing.T, eventID string) inbox.Delivery {
	t.Helper()
	h.platform.receiver(t)
	var found inbox.Delivery
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(h.all(t), func(d inbox.Delivery) bool {
			found = d
			return d.Headers["Service-Event-Id"] == eventID
		})
	}, slow, 50*time.Millisecond, "the event has not arrived")
	h.platform.judgeWebhooks(t, []inbox.Delivery{found})
	return found
}

func signed(d inbox.Delivery, secret string) bool {
	return inbox.Verify(secret, d.Headers[inbox.SignatureHeader], []byte(d.Raw), d.ReceivedAt)
}
