package conformance_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// onLink posts an action of the sandbox on a link.
func (f *fixture) onLink(t *testing.T, link record, action, body string) answer {
	t.Helper()
	return f.Post(t, f.key, "/sandbox/personal-links/"+idOf(link)+":"+action, body)
}

func (f *fixture) statusOf(t *testing.T, link record) any {
	t.Helper()
	return f.read(t, "/personal-links/"+idOf(link))["status"]
}

func testSandboxLinks(t *testing.T, p *platform) {
	f, waiting := newFixture(t, p), newFixture(t, p, approving)
	requirement(t, "SBL-1", func(t *testing.T) {
		link := waiting.link(t)
		approved := waiting.onLink(t, link, "approve", "{}").OK(t)
		require.Equal(t, "ACTIVE", approved["status"])
		require.Equal(t, approved, waiting.read(t, "/personal-links/"+idOf(link)))
		waiting.Await(t, waiting.key, harness.Slow, "personal_link.approved", idOf(link))
	})
	requirement(t, "SBL-2", func(t *testing.T) {
		active, cancelled := f.link(t), f.link(t)
		require.Equal(t, active, f.onLink(t, active, "approve", "{}").OK(t))
		f.cancel(t, "/personal-links/"+idOf(cancelled))
		require.Equal(t, "CANCELLED", f.onLink(t, cancelled, "approve", "{}").Problem(t, "not_editable")["currentStatus"])
	})
	f.testSandboxClaims(t)
	f.testAutomaticClaims(t, waiting)
	requirement(t, "SBL-9", func(t *testing.T) {
		link := f.link(t)
		for _, action := range []string{"approve", "claim"} {
			path := "/sandbox/personal-links/" + idOf(link) + ":" + action
			for _, key := range []string{f.newKey(t, ofBrand(f.other)), waiting.key} {
				f.Post(t, key, path, "{}").Problem(t, "not_found")
			}
			f.Post(t, f.newKey(t, ofScope(commonv1.Scope_SCOPE_ORDERS)), path, "{}").Problem(t, "insufficient_scope")
			f.Post(t, f.key, "/sandbox/personal-links/"+uuid.NewString()+":"+action, "{}").Problem(t, "not_found")
		}
	})
}

func (f *fixture) testSandboxClaims(t *testing.T) {
	requirement(t, "SBL-3", func(t *testing.T) {
		link := f.link(t)
		claimed := f.onLink(t, link, "claim", "{}").OK(t)
		require.Equal(t, "CLAIMED", claimed["status"])
		order := f.orderOf(t, claimed)
		require.Equal(t, []any{"PERSONAL_LINK", "PROCESSING", idOf(link)},
			[]any{order["source"], order["status"], order["personalLinkId"]})
		f.Await(t, f.key, harness.Slow, "order.created", idOf(order))
		f.Await(t, f.key, harness.Slow, "personal_link.claimed", idOf(link))
	})
	requirement(t, "SBL-4", func(t *testing.T) {
		campaign := f.campaign(t, 1, f.putGift(t, "S", "M"))
		for range 2 {
			f.onLink(t, f.link(t, fromCampaign(campaign.GetId())), "claim", "{}").OK(t)
		}
		require.Equal(t, []any{0.0, 0.0}, f.stockOf(t, campaign), "the second claim takes the other size")
	})
	requirement(t, "SBL-5", func(t *testing.T) {
		link := f.link(t)
		f.onLink(t, link, "claim", `{"variations": {"Size": "M"}}`).Invalid(t, "productId required")
		f.onLink(t, link, "claim",
			`{"productId": "x", "recipient": {"name": "Ann", "phone": "1", "address": {"street": "A", "city": "B", "country": "SE"}}}`).
			Invalid(t, "productId invalid", "recipient.phone invalid", "recipient.address.postalCode required")
		f.onLink(t, link, "claim", `{"productId": "`+uuid.NewString()+`"}`).Problem(t, "product_not_available")
	})
	requirement(t, "SBL-6", func(t *testing.T) {
		link := f.link(t)
		f.cancel(t, "/personal-links/"+idOf(link))
		require.Equal(t, "CANCELLED", f.onLink(t, link, "claim", "{}").Problem(t, "not_editable")["currentStatus"])
		require.Equal(t, "CLAIMED", f.onLink(t, f.claimed(t), "claim", "{}").Problem(t, "not_editable")["currentStatus"])
	})
	requirement(t, "SBL-7", func(t *testing.T) {
		link := f.link(t, fromCampaign(f.campaign(t, 0, f.putGift(t, "S")).GetId()))
		f.onLink(t, link, "claim", "{}").Problem(t, "out_of_stock")
		require.Equal(t, "ACTIVE", f.statusOf(t, link))
	})
	requirement(t, "SBL-8", func(t *testing.T) {
		request := f.postCall("/sandbox/personal-links/"+idOf(f.link(t))+":claim", "")
		request.IdempotencyKey = uuid.NewString()
		first, again := f.Do(t, request), f.Do(t, request)
		require.Equal(t, http.StatusOK, first.Status)
		require.Equal(t, first.Body, again.Body)
		require.Equal(t, "claim", first.Header.Get("Sandbox"))
		require.Equal(t, []string{"", "true"}, []string{first.Header.Get("Idempotent-Replayed"), again.Header.Get("Idempotent-Replayed")})
	})
}

func (f *fixture) testAutomaticClaims(t *testing.T, waiting *fixture) {
	requirement(t, "SBL-10", func(t *testing.T) {
		stops := f.link(t, with("recipients.0.externalRecipientId", "sandbox:auto=1s,stop=ACTIVE"))
		link := waiting.link(t, with("recipients.0.externalRecipientId", "sandbox:auto=1s player-7"))
		require.Equal(t, "REQUESTED", link["status"])
		waiting.Await(t, waiting.key, harness.Slow, "personal_link.approved", idOf(link))
		waiting.Await(t, waiting.key, harness.Slow, "personal_link.claimed", idOf(link))
		require.Equal(t, "CLAIMED", waiting.statusOf(t, link))
		require.Equal(t, "ACTIVE", f.statusOf(t, stops))
	})
	requirement(t, "SBL-11", func(t *testing.T) {
		for _, directive := range []string{"sandbox:automatic", "sandbox:auto,stop=SENT"} {
			f.reject(t, "externalRecipientId invalid", with("recipients.0.externalRecipientId", directive))
		}
	})
}
