package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func ofCampaign(id string) *catalogv1.Selection { return &catalogv1.Selection{CampaignId: &id} }

func ofGifts(ids ...string) *catalogv1.Selection { return &catalogv1.Selection{ProductIds: ids} }

func TestCheckSelection(t *testing.T) {
	t.Parallel()
	f := setup(t)
	listed, withdrawn := gift(), gift(withState(internal))
	f.put(listed)
	f.put(withdrawn)
	past := time.Now().Add(-time.Second)
	active := f.campaignIn(running, nil, offering(listed.GetId(), onDemand, nil, "S"))
	draft := f.campaignIn(inPreparation, nil)
	expired := f.campaignIn(running, &past)
	good := func(selection *catalogv1.Selection) *catalogv1.CheckSelectionRequest {
		return &catalogv1.CheckSelectionRequest{TenantId: tenantID, AllBrands: true, Selection: selection}
	}
	t.Run("an active campaign returns its brand", func(t *testing.T) {
		for _, req := range []*catalogv1.CheckSelectionRequest{
			good(ofCampaign(active)),
			{TenantId: tenantID, BrandIds: []string{brandID}, Selection: ofCampaign(active)},
		} {
			got := call(f, f.selections.CheckSelection, req)
			require.Equal(t, brandID, got.GetCampaignBrandId())
		}
	})
	t.Run("published gifts, one of them twice", func(t *testing.T) {
		got := call(f, f.selections.CheckSelection, good(ofGifts(listed.GetId(), listed.GetId())))
		require.Empty(t, got.GetCampaignBrandId())
	})
	for name, tc := range map[string]struct {
		req  *catalogv1.CheckSelectionRequest
		want problem.Code
	}{
		"a campaign of a brand out of reach": {
			&catalogv1.CheckSelectionRequest{TenantId: tenantID, Selection: ofCampaign(draft)}, problem.CampaignNotFound,
		},
		"a campaign of another tenant": {&catalogv1.CheckSelectionRequest{
			TenantId: uuid.NewString(), AllBrands: true, Selection: ofCampaign(active),
		}, problem.CampaignNotFound},
		"a campaign that has expired":             {good(ofCampaign(expired)), problem.CampaignNotActive},
		"a withdrawn gift, before an unknown one": {good(ofGifts(uuid.NewString(), withdrawn.GetId())), problem.ProductNotAvailable},
	} {
		t.Run(name, func(*testing.T) {
			refused(f, tc.want, f.selections.CheckSelection, tc.req)
		})
	}
	both := ofCampaign(uuid.NewString())
	both.ProductIds = []string{uuid.NewString()}
	testInvalid(f, f.selections.CheckSelection, map[string]invalidRequest[*catalogv1.CheckSelectionRequest]{
		"none":           {good(nil), codes{"selection": "required"}},
		"an empty one":   {good(ofGifts()), codes{"selection.productIds": "required"}},
		"both kinds":     {good(both), codes{"selection.productIds": "invalid"}},
		"too many gifts": {good(ofGifts(make([]string, 1001)...)), codes{"selection.productIds": "too_long"}},
	})
}

func TestTheGiftsThatAPlayerMayChoose(t *testing.T) {
	t.Parallel()
	f := setup(t)
	fileID := f.upload(png)
	blanket := gift(func(p *catalogv1.PutProductRequest) {
		p.ImageFileIds, p.AvailableCountries = []string{fileID}, []string{"SE", "FI"}
		p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt"}}
	})
	mug, gone := gift(), gift()
	for _, p := range []*catalogv1.PutProductRequest{blanket, mug, gone} {
		f.put(p)
	}
	c := campaign(
		offering(mug.GetId(), onDemand, nil, "M"), offering(gone.GetId(), onDemand, nil, "S"),
		offering(blanket.GetId(), stocked, limit(2), "S"))
	f.putCampaign(c)
	gone.State = archived
	f.put(gone)
	t.Run("of a campaign: in display order, with stock, without unlisted gifts", func(t *testing.T) {
		call(f, f.ordering.Reserve, attempt(c.GetId(), blanket.GetId(), "S"))
		got := f.siteGifts(ofCampaign(c.GetId()), "sv-SE")
		require.True(t, got.GetOpen())
		require.Len(t, got.GetGifts(), 2)
		require.Equal(t, mug.GetId(), got.GetGifts()[0].GetProductId())
		require.Nil(t, got.GetGifts()[0].GetSkus()[0].StockRemaining)
		second := got.GetGifts()[1]
		require.Equal(t, "Ullfilt", second.GetName())
		require.Equal(t, "Warm.", second.GetDescription())
		require.Equal(t, publicURL+"/catalog/images/"+fileID, second.GetImages()[0].GetUrl())
		require.Equal(t, []string{"S", "M"}, second.GetVariations()[0].GetValues())
		require.Equal(t, []string{"FI", "SE"}, second.GetCountries())
		require.Len(t, second.GetSkus(), 1)
		require.Equal(t, map[string]string{"Size": "S"}, second.GetSkus()[0].GetVariations())
		require.EqualValues(t, 1, second.GetSkus()[0].GetStockRemaining())
	})
	t.Run("of the catalog: in the order of the selection", func(t *testing.T) {
		got := f.siteGifts(ofGifts(blanket.GetId(), gone.GetId(), uuid.NewString(), "none", mug.GetId()), "xx")
		require.True(t, got.GetOpen())
		require.Len(t, got.GetGifts(), 2)
		require.Equal(t, "Wool blanket", got.GetGifts()[0].GetName(), "texts are in en-US for a locale without texts")
		require.Empty(t, got.GetGifts()[0].GetSkus())
		require.Equal(t, mug.GetId(), got.GetGifts()[1].GetProductId())
	})
	t.Run("for a preview: of a campaign of the brand in any state, or none at all", func(t *testing.T) {
		draft := f.campaignIn(inPreparation, nil, offering(mug.GetId(), onDemand, nil, "M"))
		preview := func(selection *catalogv1.Selection, brand string) *catalogv1.ListSelectionGiftsResponse {
			return call(f, f.selections.ListSelectionGifts, &catalogv1.ListSelectionGiftsRequest{
				TenantId: tenantID, Selection: selection, Locale: "en-US", BrandId: &brand, Preview: true,
			})
		}
		require.Len(t, preview(ofCampaign(draft), brandID).GetGifts(), 1)
		require.True(t, preview(ofGifts(), brandID).GetOpen())
		require.Empty(t, preview(ofGifts(), brandID).GetGifts())
		require.False(t, preview(ofCampaign(draft), uuid.NewString()).GetOpen(), "a campaign of another brand")
		require.False(t, preview(ofCampaign(uuid.NewString()), brandID).GetOpen(), "an unknown campaign")
		require.Equal(t, codes{"selection": "required"}, violations(f, f.selections.ListSelectionGifts,
			&catalogv1.ListSelectionGiftsRequest{TenantId: tenantID, Preview: true}))
	})
	t.Run("of a campaign that is not active: none", func(t *testing.T) {
		for _, id := range []string{
			uuid.NewString(), f.campaignIn(inPreparation, nil, c.GetOfferings()...),
		} {
			got := f.siteGifts(ofCampaign(id), "")
			require.False(t, got.GetOpen())
			require.Empty(t, got.GetGifts())
		}
	})
}

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
			call(f, f.campaigns.CompleteCampaign, &catalogv1.CompleteCampaignRequest{
				TenantId: tenantID, CampaignId: c.GetId(), Actor: staff(),
			})
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
	refused(f, problem.NotFound, f.selections.GetOrderedGift, &catalogv1.GetOrderedGiftRequest{
		TenantId: tenantID, ProductId: uuid.NewString(),
	})
	testInvalid(f, f.selections.GetOrderedGift, map[string]invalidRequest[*catalogv1.GetOrderedGiftRequest]{
		"nothing": {&catalogv1.GetOrderedGiftRequest{}, codes{"tenantId": "required", "productId": "required"}},
		"texts": {
			&catalogv1.GetOrderedGiftRequest{TenantId: "x", ProductId: "x", Locale: strings.Repeat("x", 36)},
			codes{"tenantId": "invalid", "productId": "invalid", "locale": "too_long"},
		},
	})
}
