package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// batchOf is a batch for the demo's gift with one recipient, after the changes.
func (s *shop) batchOf(t *testing.T, changes ...change) string {
	t.Helper()
	return s.batch(t, func(batch map[string]any) {
		batch["brandId"] = s.brand
		batch["recipients"] = []any{map[string]any{"label": markedName}}
		for _, change := range changes {
			change(batch)
		}
	})
}

// link makes one link.
func (s *shop) link(t *testing.T, changes ...change) map[string]any {
	t.Helper()
	made := results(t, s.post(t, s.key, "/personal-links:create-batch", s.batchOf(t, changes...)))
	require.Len(t, made, 1)
	require.Equal(t, "CREATED", made[0].Outcome, "%v", made[0].Errors)
	return made[0].Link
}

// fromCampaign lets the recipients choose from the campaign.
func fromCampaign(campaignID string) change {
	return func(batch map[string]any) {
		delete(batch, "brandId")
		delete(batch, "productIds")
		batch["campaignId"] = campaignID
	}
}

// claim has the player take the first gift there is.
func (s *shop) claim(t *testing.T, link map[string]any) map[string]any {
	t.Helper()
	site := s.giftSite(t)
	claimed, err := site.ClaimLink(t.Context(), choice(t, site, link))
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, claimed.GetState())
	return s.read(t, "/personal-links/"+idOf(link))
}

func (s *shop) claimed(t *testing.T, changes ...change) map[string]any {
	t.Helper()
	return s.claim(t, s.link(t, changes...))
}

func (s *shop) linkDesk(t *testing.T) linksv1.PersonalLinkOperationsServiceClient {
	t.Helper()
	return linksv1.NewPersonalLinkOperationsServiceClient(s.dial(t, "GIFTING_GRPC_LINKS"))
}

func (s *shop) approveLink(t *testing.T, actor *commonv1.Actor, link map[string]any) error {
	t.Helper()
	_, err := s.linkDesk(t).ApprovePersonalLink(t.Context(), &linksv1.ApprovePersonalLinkRequest{
		Actor: actor, TenantId: s.tenant, LinkId: idOf(link),
	})
	return err
}

func (p *platform) promisesOfLinks(t *testing.T) {
	s, waiting := p.newShop(t, false), p.newShop(t, true)
	campaign := s.campaign(t, -1, p.putGift(t, "S"))
	plain := s.link(t, with("recipients.0.externalRecipientId", "player-1"))
	ofCampaign := s.link(t, fromCampaign(campaign.GetId()))
	requested := waiting.link(t)
	claimed := s.claimed(t)
	all := []map[string]any{plain, ofCampaign, requested, claimed}
	t.Run("the id is a UUID", func(t *testing.T) {
		for _, link := range all {
			require.NoError(t, uuid.Validate(idOf(link)))
		}
	})
	t.Run("externalRecipientId is as it was sent", func(t *testing.T) {
		require.Equal(t, []any{"player-1", nil}, []any{plain["externalRecipientId"], ofCampaign["externalRecipientId"]})
	})
	t.Run("brandId is the brand that the claim page wears", func(t *testing.T) {
		require.Equal(t, s.brand, ofCampaign["brandId"])
		page, err := s.giftSite(t).GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tokenOf(plain)})
		require.NoError(t, err)
		require.Equal(t, "North", page.GetBrand().GetName())
	})
	s.promisesAboutNulls(t, "campaignId is null for a catalog selection", "campaignId", map[string]any{campaign.GetId(): ofCampaign}, plain)
	s.promisesAboutNulls(t, "selection is CATALOG for a catalog selection and null for a campaign", "selection", map[string]any{"CATALOG": plain}, ofCampaign)
	t.Run("the claimUrl opens the claim page", func(t *testing.T) {
		page := open(t, plain["claimUrl"].(string))
		require.Equal(t, http.StatusOK, page.status)
		require.Contains(t, page.body, markedName)
	})
	t.Run("orderId is null until the claim and then its order", func(t *testing.T) {
		require.Contains(t, plain, "orderId")
		require.Nil(t, plain["orderId"])
		require.Equal(t, claimed["id"], s.read(t, "/orders/"+claimed["orderId"].(string))["personalLinkId"])
	})
	t.Run("createdAt is when the link was made", func(t *testing.T) {
		for _, link := range []map[string]any{plain, ofCampaign, requested} {
			require.Regexp(t, instant, link["createdAt"])
			require.Equal(t, link["createdAt"], link["updatedAt"])
		}
		require.Less(t, plain["createdAt"], ofCampaign["createdAt"])
	})
	t.Run("approvedAt is null for a link that started ACTIVE or still waits", func(t *testing.T) {
		for _, link := range all {
			require.Contains(t, link, "approvedAt")
			require.Nil(t, link["approvedAt"])
		}
	})
	cancelled := s.cancel(t, "/personal-links/"+idOf(plain))
	for promise, c := range map[string]struct {
		name string
		of   map[string]any
	}{
		"claimedAt is null until the claim":                {"claimedAt", claimed},
		"cancelledAt is null unless the link is cancelled": {"cancelledAt", cancelled},
	} {
		t.Run(promise, func(t *testing.T) {
			require.Nil(t, plain[c.name])
			require.Nil(t, ofCampaign[c.name])
			require.Regexp(t, instant, c.of[c.name])
		})
	}
	t.Run("updatedAt moves with every change", func(t *testing.T) {
		require.Greater(t, cancelled["updatedAt"], plain["updatedAt"])
		require.Greater(t, claimed["updatedAt"], claimed["createdAt"])
	})
	t.Run("the times of a link are UTC with at most six decimals", func(t *testing.T) {
		for _, link := range append(all, cancelled) {
			for _, name := range []string{"createdAt", "approvedAt", "claimedAt", "cancelledAt", "updatedAt"} {
				if link[name] != nil {
					require.Regexp(t, instant, link[name])
				}
			}
		}
	})
}
