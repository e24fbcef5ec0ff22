package conformance_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func testLinkStates(t *testing.T, p *platform) {
	f, waiting := newFixture(t, p), newFixture(t, p, approving)
	const created, cancelled = "personal_link.created", "personal_link.cancelled"
	link, requested := f.link(t), waiting.link(t)
	requirement(t, "LST-1", func(t *testing.T) {
		require.Equal(t, "REQUESTED", requested["status"])
		waiting.requireLast(t, requested, created)
	})
	requirement(t, "LST-2", func(t *testing.T) {
		require.Equal(t, "ACTIVE", link["status"])
		f.requireLast(t, link, created)
	})
	requirement(t, "LST-15", func(t *testing.T) {
		for _, f := range []*fixture{f, waiting} {
			campaign := f.campaign(t, 2, f.putGift(t, "S"))
			made := f.link(t, fromCampaign(campaign.GetId()))
			require.Equal(t, []any{2.0}, f.stockOf(t, campaign), made["status"])
			if made["status"] == "REQUESTED" {
				require.NoError(t, f.approveLink(t, f.coordinator, made))
				require.Equal(t, []any{2.0}, f.stockOf(t, campaign))
			}
			f.claim(t, made)
			require.Equal(t, []any{1.0}, f.stockOf(t, campaign))
		}
	})
	requirement(t, "LST-12", func(t *testing.T) {
		request := f.choiceOf(t, link)
		request.Token = tokenOf(requested)
		answered, err := f.GiftSite(t).ClaimLink(t.Context(), request)
		require.NoError(t, err)
		require.NotEqual(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, answered.GetState())
		require.Equal(t, requested, waiting.read(t, "/personal-links/"+idOf(requested)))
	})
	requirement(t, "LST-10", func(t *testing.T) {
		for _, action := range []string{":approve", ":activate"} {
			waiting.Post(t, waiting.key, "/personal-links/"+idOf(requested)+action, "{}").Problem(t, "not_found")
		}
		require.Equal(t, "REQUESTED", waiting.read(t, "/personal-links/"+idOf(requested))["status"])
	})
	requirement(t, "CHO-74", func(t *testing.T) {
		for _, actor := range []*commonv1.Actor{waiting.member, operator} {
			require.Equal(t, codes.PermissionDenied, status.Code(waiting.approveLink(t, actor, requested)))
		}
		require.Equal(t, requested, waiting.read(t, "/personal-links/"+idOf(requested)))
		require.NoError(t, waiting.approveLink(t, waiting.coordinator, waiting.link(t)))
	})
	requirement(t, "LST-3", func(t *testing.T) {
		require.NoError(t, waiting.approveLink(t, waiting.administrator, requested))
		approved := waiting.read(t, "/personal-links/"+idOf(requested))
		require.Equal(t, "ACTIVE", approved["status"])
		require.Regexp(t, instant, approved["approvedAt"])
		waiting.requireLast(t, approved, created, "personal_link.approved")
	})
	requirement(t, "LST-4", func(t *testing.T) {
		claimed := f.claim(t, link)
		require.Equal(t, "CLAIMED", claimed["status"])
		require.Regexp(t, instant, claimed["claimedAt"])
		require.Equal(t, "PERSONAL_LINK", f.orderOf(t, claimed)["source"])
		f.requireLast(t, claimed, created, "personal_link.claimed")
	})
	requirement(t, "LST-9", func(t *testing.T) {
		refused := f.Post(t, f.key, "/personal-links/"+idOf(link)+":cancel", `{"reason": "Late."}`).Problem(t, "not_cancellable")
		require.Equal(t, "CLAIMED", refused["currentStatus"])
	})
	withdrawn := f.link(t)
	for id, c := range map[string]struct {
		f    *fixture
		link record
		from string
	}{
		"LST-5": {waiting, waiting.link(t), "REQUESTED"},
		"LST-6": {f, withdrawn, "ACTIVE"},
	} {
		requirement(t, id, func(t *testing.T) {
			require.Equal(t, c.from, c.link["status"])
			after := c.f.cancel(t, "/personal-links/"+idOf(c.link))
			require.Equal(t, "CANCELLED", after["status"])
			require.Regexp(t, instant, after["cancelledAt"])
			require.Equal(t, after["updatedAt"], after["cancelledAt"])
			c.f.requireLast(t, after, created, cancelled)
		})
	}
	requirement(t, "LST-7", func(t *testing.T) {
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, f.page(t, withdrawn).GetState())
	})
	requirement(t, "LST-8", func(t *testing.T) {
		before := f.read(t, "/personal-links/"+idOf(withdrawn))
		again := f.Post(t, f.key, "/personal-links/"+idOf(withdrawn)+":cancel", `{"reason": "Second."}`)
		require.Equal(t, http.StatusOK, again.Status, again.Body)
		require.Equal(t, before, again.Object(t))
		require.Equal(t, "Another reward.", f.readLinkAsTeam(t, withdrawn).GetCancellationReason())
		f.requireLast(t, f.link(t), created)
		f.requireLast(t, before, created, cancelled)
	})
}
