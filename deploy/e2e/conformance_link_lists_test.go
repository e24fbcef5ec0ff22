package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func (p *platform) promisesOfLinkLists(t *testing.T) {
	s := p.newShop(t, false)
	campaign := s.campaign(t, -1, p.putGift(t, "S"))
	var made []map[string]any
	for i := range 4 {
		made = append(made, s.link(t, recipient("externalRecipientId", fmt.Sprintf("player-%d", i))))
	}
	ofCampaign, elsewhere := s.link(t, fromCampaign(campaign.GetId())), s.link(t, with("brandId", s.other))
	newestFirst := []any{elsewhere["id"], ofCampaign["id"], made[3]["id"], made[2]["id"], made[1]["id"], made[0]["id"]}
	t.Run("links within the key's brands are listed, newest first", func(t *testing.T) {
		require.Equal(t, newestFirst, ids(s.list(t, s.key, "/personal-links")))
		require.Equal(t, []any{elsewhere["id"]}, ids(s.list(t, s.keyOf(t, s.other), "/personal-links")))
	})
	cancelled := s.cancel(t, "/personal-links/"+idOf(made[0]))
	since := func(link map[string]any) string {
		return "updatedSince=" + strings.ReplaceAll(link["updatedAt"].(string), ":", "%3A")
	}
	for _, filter := range []struct {
		promise, query string
		want           []any
	}{
		{"externalRecipientId filters links", "externalRecipientId=player-2", []any{made[2]["id"]}},
		{"campaignId filters links", "campaignId=" + campaign.GetId(), []any{ofCampaign["id"]}},
		{"status filters links", "status=CANCELLED", []any{cancelled["id"]}},
		{"updatedSince filters links", since(cancelled), []any{cancelled["id"]}},
		{"a link changed at that very instant is included", since(elsewhere), []any{elsewhere["id"], cancelled["id"]}},
		{"with updatedSince the oldest change comes first", since(made[2]), []any{
			made[2]["id"], made[3]["id"], ofCampaign["id"], elsewhere["id"], cancelled["id"],
		}},
	} {
		t.Run(filter.promise, func(t *testing.T) {
			require.Equal(t, filter.want, ids(s.list(t, s.key, "/personal-links?"+filter.query)))
		})
	}
	t.Run("after and limit page links", func(t *testing.T) {
		require.Len(t, s.list(t, s.key, "/personal-links?limit=2"), 2)
		require.Equal(t, newestFirst, ids(s.all(t, s.key, "/personal-links?limit=2")))
	})
	t.Run("a reader who syncs by updatedSince ends with every link as it is", func(t *testing.T) { s.syncs(t, "/personal-links", made[2]) })
	t.Run("a link is read as it was answered", func(t *testing.T) { require.Equal(t, made[1], s.read(t, "/personal-links/"+idOf(made[1]))) })
	t.Run("the reason of a cancelled link is required and has at most 1000 characters", func(t *testing.T) {
		s.promiseOfReasons(t, "/personal-links/"+idOf(made[1]), "/personal-links/"+idOf(made[3]))
	})
	t.Run("the reason of a cancelled link is in no answer and no event", func(t *testing.T) {
		require.NotContains(t, s.get(t, s.key, "/personal-links/"+idOf(cancelled)).body, "Another reward.")
		for _, e := range s.recorded(t, s.key, idOf(cancelled), "personal_link.created", "personal_link.cancelled") {
			require.NotContains(t, e.raw, "Another reward.")
		}
	})
	t.Run("the tenant's team reads the reason of a cancelled link", func(t *testing.T) {
		require.Equal(t, "Another reward.", s.linkFile(t, cancelled).GetCancellationReason())
	})
}
