package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
)

func testLinks(t *testing.T, p *platform) {
	f, waiting := newFixture(t, p), newFixture(t, p, approving)
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	plain := f.link(t, with("recipients.0.externalRecipientId", "player-1"))
	ofCampaign := f.link(t, fromCampaign(campaign.GetId()))
	requested := waiting.link(t)
	claimed := f.claimed(t)
	all := []record{plain, ofCampaign, requested, claimed}
	requirement(t, "LIN-1", func(t *testing.T) {
		for _, link := range all {
			require.NoError(t, uuid.Validate(idOf(link)))
		}
	})
	requirement(t, "LIN-2", func(t *testing.T) {
		require.Equal(t, []any{"player-1", nil}, []any{plain["externalRecipientId"], ofCampaign["externalRecipientId"]})
	})
	requirement(t, "LIN-3", func(t *testing.T) {
		require.Equal(t, f.brand, ofCampaign["brandId"])
		require.Equal(t, "North", f.page(t, plain).GetBrand().GetName())
	})
	f.testNulls(t, "LIN-4", "campaignId", record{campaign.GetId(): ofCampaign}, plain)
	f.testNulls(t, "LIN-5", "selection", record{"CATALOG": plain}, ofCampaign)
	requirement(t, "LIN-6", func(t *testing.T) {
		page := harness.Visit(t, plain["claimUrl"].(string))
		require.Equal(t, http.StatusOK, page.Status)
		require.Contains(t, page.Body, harness.MarkedName)
	})
	requirement(t, "LIN-7", func(t *testing.T) {
		requireNull(t, plain, "orderId")
		require.Equal(t, claimed["id"], f.orderOf(t, claimed)["personalLinkId"])
	})
	requirement(t, "LIN-8", func(t *testing.T) {
		for _, link := range []record{plain, ofCampaign, requested} {
			require.Regexp(t, instant, link["createdAt"])
			require.Equal(t, link["createdAt"], link["updatedAt"])
		}
		require.Less(t, plain["createdAt"], ofCampaign["createdAt"])
	})
	requirement(t, "LIN-9", func(t *testing.T) {
		for _, link := range all {
			requireNull(t, link, "approvedAt")
		}
	})
	cancelled := f.cancel(t, "/personal-links/"+idOf(plain))
	for id, c := range map[string]struct {
		name string
		of   record
	}{
		"LIN-10": {"claimedAt", claimed},
		"LIN-11": {"cancelledAt", cancelled},
	} {
		requirement(t, id, func(t *testing.T) {
			requireNull(t, plain, c.name)
			requireNull(t, ofCampaign, c.name)
			require.Regexp(t, instant, c.of[c.name])
		})
	}
	requirement(t, "LIN-12", func(t *testing.T) {
		require.Greater(t, cancelled["updatedAt"], plain["updatedAt"])
		require.Greater(t, claimed["updatedAt"], claimed["createdAt"])
	})
	requirement(t, "LIN-13", func(t *testing.T) {
		for _, link := range append(all, cancelled) {
			eachMember(link, func(name string, value any) {
				if strings.HasSuffix(name, "At") && value != nil {
					require.Regexp(t, instant, value, name)
				}
			})
		}
	})
}
