package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func (p *platform) promisesOfLinkStates(t *testing.T) {
	s, waiting := p.newShop(t, false), p.newShop(t, true)
	const created, cancelled = "personal_link.created", "personal_link.cancelled"
	link, requested := s.link(t), waiting.link(t)
	t.Run("a link waits as REQUESTED where the tenant approves, and personal_link.created is recorded", func(t *testing.T) {
		require.Equal(t, "REQUESTED", requested["status"])
		waiting.shows(t, requested, created)
	})
	t.Run("a link starts ACTIVE where nobody approves, and personal_link.created is recorded", func(t *testing.T) {
		require.Equal(t, "ACTIVE", link["status"])
		s.shows(t, link, created)
	})
	t.Run("a link to a campaign with stock reserves nothing, and its claim takes the unit", func(t *testing.T) {
		for _, shop := range []*shop{s, waiting} {
			campaign := shop.campaign(t, 2, p.putGift(t, "S"))
			made := shop.link(t, fromCampaign(campaign.GetId()))
			require.Equal(t, []any{2.0}, left(shop.offerings(t, campaign.GetId(), "")[0]), made["status"])
			if made["status"] == "REQUESTED" {
				require.NoError(t, shop.approveLink(t, shop.coordinator, made))
				require.Equal(t, []any{2.0}, left(shop.offerings(t, campaign.GetId(), "")[0]))
			}
			shop.claim(t, made)
			require.Equal(t, []any{1.0}, left(shop.offerings(t, campaign.GetId(), "")[0]))
		}
	})
	t.Run("a link that waits is not claimed", func(t *testing.T) {
		site := waiting.giftSite(t)
		request := choice(t, s.giftSite(t), link)
		request.Token = tokenOf(requested)
		answered, err := site.ClaimLink(t.Context(), request)
		require.NoError(t, err)
		require.NotEqual(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, answered.GetState())
		require.Equal(t, requested, waiting.read(t, "/personal-links/"+idOf(requested)))
	})
	t.Run("a key approves no link", func(t *testing.T) {
		for _, action := range []string{":approve", ":activate"} {
			requireProblem(t, waiting.post(t, waiting.key, "/personal-links/"+idOf(requested)+action, "{}"), http.StatusNotFound, "not_found")
		}
		require.Error(t, waiting.approveLink(t, waiting.member, requested))
		require.Equal(t, "REQUESTED", waiting.read(t, "/personal-links/"+idOf(requested))["status"])
	})
	t.Run("an approval makes a link ACTIVE, sets approvedAt and is recorded", func(t *testing.T) {
		require.NoError(t, waiting.approveLink(t, waiting.administrator, requested))
		approved := waiting.read(t, "/personal-links/"+idOf(requested))
		require.Equal(t, "ACTIVE", approved["status"])
		require.Regexp(t, instant, approved["approvedAt"])
		waiting.shows(t, approved, created, "personal_link.approved")
	})
	t.Run("a claim makes a link CLAIMED, with its order and its time, and is recorded", func(t *testing.T) {
		claimed := s.claim(t, link)
		require.Equal(t, "CLAIMED", claimed["status"])
		require.Regexp(t, instant, claimed["claimedAt"])
		require.Equal(t, "PERSONAL_LINK", s.read(t, "/orders/"+claimed["orderId"].(string))["source"])
		s.shows(t, claimed, created, "personal_link.claimed")
	})
	t.Run("a CLAIMED link is not cancelled", func(t *testing.T) {
		problem := requireProblem(t, s.post(t, s.key, "/personal-links/"+idOf(link)+":cancel", `{"reason": "Late."}`),
			http.StatusConflict, "not_cancellable")
		require.Equal(t, "CLAIMED", problem["currentStatus"])
	})
	withdrawn := s.link(t)
	for promise, c := range map[string]struct {
		shop *shop
		link map[string]any
		from string
	}{
		"a link that waits is cancelled, which sets cancelledAt and is recorded": {waiting, waiting.link(t), "REQUESTED"},
		"an ACTIVE link is cancelled, which sets cancelledAt and is recorded":    {s, withdrawn, "ACTIVE"},
	} {
		t.Run(promise, func(t *testing.T) {
			require.Equal(t, c.from, c.link["status"])
			after := c.shop.cancel(t, "/personal-links/"+idOf(c.link))
			require.Equal(t, "CANCELLED", after["status"])
			require.Regexp(t, instant, after["cancelledAt"])
			require.Equal(t, after["updatedAt"], after["cancelledAt"])
			c.shop.shows(t, after, created, cancelled)
		})
	}
	t.Run("to a player a cancelled link is an expired one", func(t *testing.T) {
		page, err := s.giftSite(t).GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tokenOf(withdrawn)})
		require.NoError(t, err)
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, page.GetState())
	})
	t.Run("a second cancellation of a link answers 200, keeps the first reason and records nothing", func(t *testing.T) {
		before := s.read(t, "/personal-links/"+idOf(withdrawn))
		again := s.post(t, s.key, "/personal-links/"+idOf(withdrawn)+":cancel", `{"reason": "Second."}`)
		require.Equal(t, http.StatusOK, again.status, again.body)
		require.Equal(t, before, again.object(t))
		require.Equal(t, "Another reward.", s.linkFile(t, withdrawn).GetCancellationReason())
		s.shows(t, s.link(t), created)
		s.shows(t, before, created, cancelled)
	})
}

// linkFile is a link as the tenant's team reads it.
func (s *shop) linkFile(t *testing.T, link map[string]any) *linksv1.PersonalLinkDetails {
	t.Helper()
	read, err := s.linkDesk(t).ReadPersonalLink(t.Context(), &linksv1.ReadPersonalLinkRequest{
		Actor: s.coordinator, TenantId: s.tenant, LinkId: idOf(link),
	})
	require.NoError(t, err)
	return read.GetDetails()
}

// shows demands these events of the link, of which the last holds the record as it is.
func (s *shop) shows(t *testing.T, link map[string]any, kinds ...string) {
	t.Helper()
	events := s.recorded(t, s.key, idOf(link), kinds...)
	require.Equal(t, link, answer{body: string(events[len(events)-1].Data)}.object(t))
}
