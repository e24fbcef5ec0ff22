package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// campaign runs one of the shop's brand with the gifts, each in all its sizes with the units; negative: on demand.
func (s *shop) campaign(t *testing.T, units int32, gifts ...*catalogv1.PutProductRequest) *catalogv1.PutCampaignRequest {
	t.Helper()
	campaign := &catalogv1.PutCampaignRequest{
		Id: uuid.NewString(), TenantId: s.tenant, BrandId: s.brand, Name: "Rain", Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
	}
	for _, gift := range gifts {
		offering := &catalogv1.OfferingInput{ProductId: gift.GetId(), SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_ON_DEMAND}
		var stock *int32
		if units >= 0 {
			offering.SupplyType, stock = catalogv1.SupplyType_SUPPLY_TYPE_STOCKED, &units
		}
		for _, size := range gift.GetVariations()[0].GetValues() {
			offering.Skus = append(offering.Skus, &catalogv1.SkuInput{Variations: map[string]string{"Size": size}, InitialStock: stock})
		}
		campaign.Offerings = append(campaign.Offerings, offering)
	}
	s.putCampaign(t, campaign)
	return campaign
}

func small() map[string]any { return map[string]any{"Size": "S"} }

// offerings of the campaign as it is read.
func (s *shop) offerings(t *testing.T, campaignID, query string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, offering := range s.read(t, "/campaigns/"+campaignID+query)["offerings"].([]any) {
		out = append(out, offering.(map[string]any))
	}
	return out
}

// left is what the SKUs of an offering have.
func left(offering map[string]any) []any {
	var out []any
	for _, sku := range offering["skus"].([]any) {
		out = append(out, sku.(map[string]any)["stockRemaining"])
	}
	return out
}

func (p *platform) promisesOfCampaigns(t *testing.T) {
	s := p.newShop(t, false)
	shown := s.richGift(t)
	shown.Variations = shown.GetVariations()[:1]
	s.putProduct(t, shown)
	plain, gone := p.putGift(t, "S"), p.putGift(t, "S")
	stocked := s.campaign(t, 5, plain, shown, gone)
	free := s.campaign(t, -1, plain)
	free.ExpiresAt = timestamppb.New(time.Now().Add(time.Hour).Truncate(time.Second))
	p.putCampaign(t, free)
	gone.State = archived
	s.putProduct(t, gone)
	record := s.read(t, "/campaigns/"+stocked.GetId())
	offerings := s.offerings(t, stocked.GetId(), "")

	t.Run("a summary has id, brand, name, status and expiry", func(t *testing.T) {
		for _, summary := range s.list(t, s.key, "/campaigns") {
			require.ElementsMatch(t, []string{"id", "brandId", "name", "status", "expiresAt"}, namesOf(summary))
		}
		require.Equal(t, []any{stocked.GetId(), s.brand, "Rain"}, []any{record["id"], record["brandId"], record["name"]})
	})
	t.Run("expiresAt is when the campaign completes, and null when it never does", func(t *testing.T) {
		require.Nil(t, record["expiresAt"])
		require.Equal(t, free.GetExpiresAt().AsTime().Format(time.RFC3339), s.read(t, "/campaigns/"+free.GetId())["expiresAt"])
	})
	t.Run("the offerings stand in display order", func(t *testing.T) {
		var order []any
		for _, offering := range offerings {
			order = append(order, offering["productId"])
		}
		require.Equal(t, []any{plain.GetId(), shown.GetId(), gone.GetId()}, order)
	})
	t.Run("an offering has the id of its gift", func(t *testing.T) { require.Equal(t, shown.GetId(), offerings[1]["productId"]) })
	t.Run("the name of an offering stands in the locale asked for, where there is a translation", func(t *testing.T) {
		require.Equal(t, "Blanket", offerings[1]["name"])
		translated := s.offerings(t, stocked.GetId(), "?locale=sv-SE")
		require.Equal(t, []any{"Filt", "Umbrella"}, []any{translated[1]["name"], translated[0]["name"]})
	})
	t.Run("the images of an offering open without a key", func(t *testing.T) {
		images, _ := offerings[1]["images"].([]any)
		require.Len(t, images, 3)
		for _, image := range images {
			require.Equal(t, http.StatusOK, open(t, image.(map[string]any)["url"].(string)).status)
		}
	})
	t.Run("a gift that a change of the catalog has suspended shows NEEDS_REVIEW", func(t *testing.T) {
		require.Equal(t, []any{"ACTIVE", "NEEDS_REVIEW"}, []any{offerings[0]["status"], offerings[2]["status"]})
	})
	s.promisesOfSupply(t, stocked, free)
	t.Run("a campaign is read in a locale that may be absent", func(t *testing.T) {
		require.Equal(t, http.StatusOK, s.get(t, s.key, "/campaigns/"+free.GetId()+"?locale=de-DE").status)
		requireProblem(t, s.get(t, s.key, "/campaigns/"+free.GetId()+"?locale=fr-FR"), http.StatusBadRequest, "invalid_request")
	})
	t.Run("a campaign that is unknown or out of reach is not found", func(t *testing.T) {
		for _, reader := range []string{p.newShop(t, false).key, s.keyOf(t, s.other)} {
			requireProblem(t, s.get(t, reader, "/campaigns/"+free.GetId()), http.StatusNotFound, "not_found")
		}
		requireProblem(t, s.get(t, s.key, "/campaigns/"+uuid.NewString()), http.StatusNotFound, "not_found")
	})
}

// promisesOfSupply is of what is left in a campaign with stock, and in one without limit.
func (s *shop) promisesOfSupply(t *testing.T, stocked, free *catalogv1.PutCampaignRequest) {
	offerings, onDemand := s.offerings(t, stocked.GetId(), ""), s.offerings(t, free.GetId(), "")[0]
	t.Run("an offering is STOCKED or ON_DEMAND", func(t *testing.T) {
		require.Equal(t, []any{"STOCKED", "ON_DEMAND"}, []any{offerings[0]["supplyType"], onDemand["supplyType"]})
	})
	t.Run("an offering has a SKU for each combination that is offered", func(t *testing.T) {
		var sizes []any
		for _, sku := range offerings[1]["skus"].([]any) {
			sizes = append(sizes, sku.(map[string]any)["variations"])
		}
		require.Equal(t, []any{map[string]any{"Size": "S"}, map[string]any{"Size": "M"}}, sizes)
	})
	t.Run("the units left are those of a SKU, and null on demand", func(t *testing.T) {
		s.place(t, ofCampaign(stocked.GetId()), ofGift(offerings[1]["productId"].(string), small()))
		require.Equal(t, []any{4.0, 5.0}, left(s.offerings(t, stocked.GetId(), "")[1]))
		require.Equal(t, []any{nil}, left(onDemand))
	})
	t.Run("an offering on demand is never limited", func(t *testing.T) {
		for range 3 {
			s.place(t, ofCampaign(free.GetId()), ofGift(onDemand["productId"].(string), small()))
		}
		require.Equal(t, []any{nil}, left(s.offerings(t, free.GetId(), "")[0]))
	})
	t.Run("an offering has no price", func(t *testing.T) {
		require.ElementsMatch(t, []string{"productId", "name", "images", "status", "supplyType", "skus"}, namesOf(offerings[1]))
		require.ElementsMatch(t, []string{"id", "variations", "stockRemaining"}, namesOf(offerings[1]["skus"].([]any)[0].(map[string]any)))
	})
}

func (p *platform) promisesOfCampaignStates(t *testing.T) {
	s := p.newShop(t, false)
	gift := p.putGift(t, "S")
	status := func(c *catalogv1.PutCampaignRequest) any { return s.read(t, "/campaigns/"+c.GetId())["status"] }
	draft, ended, expired := s.campaign(t, -1, gift), s.campaign(t, -1, gift), s.campaign(t, -1, gift)
	draft.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
	ended.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED
	expired.ExpiresAt = timestamppb.New(time.Now().Add(300 * time.Millisecond))
	for _, c := range []*catalogv1.PutCampaignRequest{draft, ended, expired} {
		p.putCampaign(t, c)
	}
	t.Run("the statuses of a campaign are DRAFT, ACTIVE and COMPLETED", func(t *testing.T) {
		require.Equal(t, []any{"DRAFT", "ACTIVE", "COMPLETED"}, []any{status(draft), status(s.campaign(t, -1, gift)), status(ended)})
	})
	t.Run("a campaign completes by itself at its expiry", func(t *testing.T) {
		require.Eventually(t, func() bool { return status(expired) == "COMPLETED" }, slow, 50*time.Millisecond)
	})
	t.Run("a campaign that is not ACTIVE is not ordered from", func(t *testing.T) {
		for _, c := range []*catalogv1.PutCampaignRequest{draft, ended, expired} {
			s.refuseAs(t, http.StatusUnprocessableEntity, "campaign_not_active", ofCampaign(c.GetId()), ofGift(gift.GetId(), small()))
		}
	})
}
