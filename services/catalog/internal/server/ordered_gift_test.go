package server_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func (f *fixture) ordered(id, locale string) *catalogv1.SelectionGift {
	f.t.Helper()
	req := &catalogv1.GetOrderedGiftRequest{TenantId: tenantID, ProductId: id, Locale: locale}
	return call(f, f.selections.GetOrderedGift, req).GetGift()
}

func TestTheGiftOfAnOrderIsShownWhateverBecameOfIt(t *testing.T) {
	t.Parallel()
	for environment, setup := range environments {
		t.Run(environment, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			fileID := f.upload(png)
			p := gift(func(p *catalogv1.PutProductRequest) {
				p.ImageFileIds, p.Translations = []string{fileID}, []*catalogv1.ProductTranslation{inSwedish("sv-SE")}
			})
			f.put(p)
			c := campaign(offering(p.GetId(), stocked, limit(1), "S"))
			f.putCampaign(c)
			isShown := func(when string) {
				shown := f.ordered(p.GetId(), "sv-FI")
				require.Equal(t, []string{"Ullfilt", "Warm."}, []string{shown.GetName(), shown.GetDescription()}, when)
				require.Len(t, shown.GetImages(), 1, when)
				require.Equal(t, publicURL+"/catalog/images/"+fileID, shown.GetImages()[0].GetUrl(), when)
				require.True(t, f.open(fileID), when)
				require.Equal(t, []string{"S", "M"}, shown.GetVariations()[0].GetValues(), when)
				require.True(t, proto.Equal(inSwedish("").GetVariations()[0], shown.GetVariationTranslations()[0]), when)
				require.Empty(t, shown.GetSkus(), when)
				require.Equal(t, "Wool blanket", f.ordered(p.GetId(), "de-DE").GetName(), when)
			}
			isShown("while it is offered")
			call(f, f.ordering.Reserve, attempt(c.GetId(), p.GetId(), "S"))
			isShown("out of stock")
			if f.sandboxed {
				f.unlist(t, p.GetId())
				isShown("not listed for the tenant")
			}
			p.State = archived
			f.put(p)
			isShown("not in the catalog")
			call(f, f.campaigns.CompleteCampaign, &catalogv1.CompleteCampaignRequest{TenantId: tenantID, CampaignId: c.GetId(), Actor: staff()})
			isShown("after its campaign has ended")
			require.Empty(t, f.siteGifts(ofCampaign(c.GetId()), "sv-SE").GetGifts())
		})
	}
}

func TestTheGiftOfAnOrderHasOnlyImagesThatThePublicMaySee(t *testing.T) {
	t.Parallel()
	f := setup(t)
	fileID := f.upload(png)
	p := gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{fileID} })
	f.put(p)
	require.Len(t, f.ordered(p.GetId(), "en-US").GetImages(), 1)
	p.State = archived
	f.put(p)
	require.False(t, f.open(fileID))
	require.Equal(t, "Wool blanket", f.ordered(p.GetId(), "en-US").GetName())
	require.Empty(t, f.ordered(p.GetId(), "en-US").GetImages())
}

func TestAnOrderedGiftThatTheCatalogDoesNotHave(t *testing.T) {
	t.Parallel()
	f := setup(t)
	refused(f, problem.NotFound, f.selections.GetOrderedGift, &catalogv1.GetOrderedGiftRequest{TenantId: tenantID, ProductId: uuid.NewString()})
	testInvalid(f, f.selections.GetOrderedGift, map[string]invalidRequest[*catalogv1.GetOrderedGiftRequest]{
		"nothing": {&catalogv1.GetOrderedGiftRequest{}, codes{"tenantId": "required", "productId": "required"}},
		"texts": {
			&catalogv1.GetOrderedGiftRequest{TenantId: "x", ProductId: "x", Locale: strings.Repeat("x", 36)},
			codes{"tenantId": "invalid", "productId": "invalid", "locale": "too_long"},
		},
	})
}
