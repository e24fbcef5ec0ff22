package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func testLinks(t *testing.T, p *platform) {
	f, waiting := newFixture(t, p), newFixture(t, p, approving)
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	var texts []change
	for _, text := range linkTexts {
		if text.inLink != "" {
			texts = append(texts, recipient(text.name, "my "+text.inLink))
		}
	}
	plain := f.link(t, texts...)
	ofCampaign := f.link(t, fromCampaign(campaign.GetId()))
	requested := waiting.link(t)
	claimed := f.claimed(t)
	all := []record{plain, ofCampaign, requested, claimed}
	requirement(t, "LIN-1", func(t *testing.T) {
		for _, link := range all {
			require.NoError(t, uuid.Validate(idOf(link)))
		}
	})
	for _, text := range linkTexts {
		if text.inLink != "" {
			f.testNulls(t, text.inLink, text.name, record{"my " + text.inLink: plain}, ofCampaign)
		}
	}
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

func testLinkLists(t *testing.T, p *platform) {
	f := newFixture(t, p)
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	var made []record
	for i := range 4 {
		made = append(made, f.link(t, recipient("externalRecipientId", fmt.Sprintf("player-%d", i))))
	}
	ofCampaign, elsewhere := f.link(t, fromCampaign(campaign.GetId())), f.link(t, with("brandId", f.other))
	newestFirst := ids(elsewhere, ofCampaign, made[3], made[2], made[1], made[0])
	requirement(t, "LIL-1", func(t *testing.T) {
		require.Equal(t, newestFirst, ids(f.list(t, f.key, "/personal-links")...))
		require.Equal(t, []any{elsewhere["id"]}, ids(f.list(t, f.newKey(t, ofBrand(f.other)), "/personal-links")...))
	})
	cancelled := f.cancel(t, "/personal-links/"+idOf(made[0]))
	since := func(link record) string {
		return "updatedSince=" + url.QueryEscape(link["updatedAt"].(string))
	}
	for _, filter := range []struct {
		id, query string
		want      []any
	}{
		{"LIL-2", "externalRecipientId=player-2", []any{made[2]["id"]}},
		{"LIL-3", "campaignId=" + campaign.GetId(), []any{ofCampaign["id"]}},
		{"LIL-4", "status=CANCELLED", []any{cancelled["id"]}},
		{"LIL-5", since(cancelled), []any{cancelled["id"]}},
		{"LIL-8", since(elsewhere), []any{elsewhere["id"], cancelled["id"]}},
		{"LIL-7", since(made[2]), ids(made[2], made[3], ofCampaign, elsewhere, cancelled)},
	} {
		requirement(t, filter.id, func(t *testing.T) {
			require.Equal(t, filter.want, ids(f.list(t, f.key, "/personal-links?"+filter.query)...))
		})
	}
	requirement(t, "LIL-6", func(t *testing.T) {
		require.Len(t, f.list(t, f.key, "/personal-links?limit=2"), 2)
		require.Equal(t, newestFirst, ids(f.All(t, f.key, "/personal-links?limit=2")...))
	})
	requirement(t, "LIL-9", func(t *testing.T) { f.requireSync(t, "/personal-links", made[2]) })
	requirement(t, "LIL-10", func(t *testing.T) { require.Equal(t, made[1], f.read(t, "/personal-links/"+idOf(made[1]))) })
	requirement(t, "LIL-11", func(t *testing.T) {
		f.testReasons(t, "/personal-links/"+idOf(made[1]), "/personal-links/"+idOf(made[3]))
	})
	requirement(t, "LIL-12", func(t *testing.T) {
		require.NotContains(t, f.Get(t, f.key, "/personal-links/"+idOf(cancelled)).Body, "Another reward.")
		for _, e := range f.requireEvents(t, f.key, idOf(cancelled), "personal_link.created", "personal_link.cancelled") {
			require.NotContains(t, e.Raw, "Another reward.")
		}
	})
	requirement(t, "LIL-13", func(t *testing.T) {
		require.Equal(t, "Another reward.", f.readLinkAsTeam(t, cancelled).GetCancellationReason())
	})
}

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
