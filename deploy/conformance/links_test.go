package conformance_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

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
