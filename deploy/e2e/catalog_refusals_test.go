package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/deploy/local/seed"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func (p *platform) upkeep(t *testing.T) catalogv1.CatalogOperationsServiceClient {
	t.Helper()
	return catalogv1.NewCatalogOperationsServiceClient(p.dial(t, "GIFTING_GRPC_CATALOG"))
}

// putGift publishes a gift for Sweden in the sizes; none: it has no dimension.
func (p *platform) putGift(t *testing.T, sizes ...string) *catalogv1.PutProductRequest {
	t.Helper()
	gift := &catalogv1.PutProductRequest{
		Id: uuid.NewString(), State: catalogv1.ProductState_PRODUCT_STATE_PUBLISHED, Name: "Umbrella", AvailableCountries: []string{"SE"},
	}
	if len(sizes) > 0 {
		gift.Variations = []*catalogv1.Variation{{Dimension: "Size", Values: sizes}}
	}
	_, err := p.upkeep(t).PutProduct(t.Context(), gift)
	require.NoError(t, err)
	return gift
}

// stockedCampaign runs a campaign of the demo's brand with units of each size of the gift.
func (p *platform) stockedCampaign(t *testing.T, gift *catalogv1.PutProductRequest, units int32) *catalogv1.PutCampaignRequest {
	t.Helper()
	offering := &catalogv1.OfferingInput{ProductId: gift.GetId(), SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_STOCKED}
	for _, v := range gift.GetVariations() {
		for _, size := range v.GetValues() {
			offering.Skus = append(offering.Skus, &catalogv1.SkuInput{Variations: map[string]string{"Size": size}, InitialStock: &units})
		}
	}
	if len(offering.GetSkus()) == 0 {
		offering.Skus = []*catalogv1.SkuInput{{InitialStock: &units}}
	}
	campaign := &catalogv1.PutCampaignRequest{
		Id: uuid.NewString(), TenantId: seed.Direct, BrandId: seed.Brand, Name: "Rain",
		Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, Offerings: []*catalogv1.OfferingInput{offering},
	}
	p.putCampaign(t, campaign)
	return campaign
}

func (p *platform) putCampaign(t *testing.T, c *catalogv1.PutCampaignRequest) {
	t.Helper()
	_, err := p.upkeep(t).PutCampaign(t.Context(), c)
	require.NoError(t, err)
}

// testCatalogRefusals has an order for every reason for which the catalog refuses one.
func (p *platform) testCatalogRefusals(t *testing.T) {
	key := p.env["GIFTING_KEY"]
	gift, gone, unoffered := p.putGift(t, "S", "M"), p.putGift(t, "S"), p.putGift(t, "S")
	campaign := p.stockedCampaign(t, gift, 1)
	suspended := p.stockedCampaign(t, gone, 1)
	gone.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
	_, err := p.upkeep(t).PutProduct(t.Context(), gone)
	require.NoError(t, err)
	draft, expired := p.stockedCampaign(t, gift, 1), p.stockedCampaign(t, gift, 1)
	draft.Status, expired.ExpiresAt = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT, timestamppb.New(time.Now().Add(-time.Second))
	p.putCampaign(t, draft)
	p.putCampaign(t, expired)

	from := func(campaign, product, size string) func(o map[string]any) {
		return func(o map[string]any) {
			delete(o, "brandId")
			if campaign != "" {
				o["campaignId"] = campaign
			} else {
				o["brandId"] = seed.Brand
			}
			o["items"] = []any{map[string]any{"productId": product, "variations": map[string]any{"Size": size}}}
		}
	}
	with := func(change func(o map[string]any), more func(o map[string]any)) func(o map[string]any) {
		return func(o map[string]any) { change(o); more(o) }
	}
	taken := p.post(t, key, "/orders", p.order(t, from(campaign.GetId(), gift.GetId(), "M")))
	require.Equal(t, http.StatusCreated, taken.status, taken.body)
	require.Equal(t, seed.Brand, taken.object(t)["brandId"], "the order takes the campaign's brand")

	narrow := p.newKey(t, "", p.brandOf(t, key)).GetApiKey()
	for _, c := range []struct {
		name, key, code string
		status          int
		change          func(o map[string]any)
	}{
		{"another brand than the campaign's", key, "brand_campaign_mismatch", 422, with(from(campaign.GetId(), gift.GetId(), "S"),
			func(o map[string]any) { o["brandId"] = p.brandOf(t, key) })},
		{"an unknown campaign", key, "campaign_not_found", 422, from(uuid.NewString(), gift.GetId(), "S")},
		{"a campaign of another tenant", p.env["GIFTING_KEY_APPROVAL"], "campaign_not_found", 422, from(campaign.GetId(), gift.GetId(), "S")},
		{"a campaign of a brand out of reach", narrow, "campaign_not_found", 422, from(campaign.GetId(), gift.GetId(), "S")},
		{"a campaign in preparation", key, "campaign_not_active", 422, from(draft.GetId(), gift.GetId(), "S")},
		{"a campaign that has expired", key, "campaign_not_active", 422, from(expired.GetId(), gift.GetId(), "S")},
		{"a gift the campaign does not offer", key, "product_not_in_campaign", 422, from(campaign.GetId(), unoffered.GetId(), "S")},
		{"a gift that is suspended in the campaign", key, "product_not_available", 422, from(suspended.GetId(), gone.GetId(), "S")},
		{"a gift that left the catalog", key, "product_not_available", 422, from("", gone.GetId(), "S")},
		{"an unknown gift", key, "product_not_available", 422, from("", uuid.NewString(), "S")},
		{"a country the gift cannot go to", key, "not_deliverable_to_country", 422, with(from(campaign.GetId(), gift.GetId(), "S"),
			func(o map[string]any) {
				o["recipient"].(map[string]any)["address"].(map[string]any)["country"] = "FI"
			})},
		{"a size the gift does not have", key, "invalid_variations", 422, from(campaign.GetId(), gift.GetId(), "XXL")},
		{"stock that is gone", key, "out_of_stock", 409, from(campaign.GetId(), gift.GetId(), "M")},
	} {
		t.Run(c.name, func(t *testing.T) {
			problem := requireProblem(t, p.post(t, c.key, "/orders", p.order(t, c.change)), c.status, c.code)
			if c.code == "brand_campaign_mismatch" {
				require.Equal(t, []string{"brandId invalid"}, faults(t, problem))
			}
		})
	}
}
