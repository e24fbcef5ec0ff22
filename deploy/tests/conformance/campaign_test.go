package conformance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// campaign starts a campaign of the fixture's brand with the gifts, each in all its sizes. Negative units mean on demand.
func (f *fixture) campaign(t *testing.T, units int32, gifts ...*catalogv1.PutProductRequest) *catalogv1.PutCampaignRequest {
	t.Helper()
	campaign := &catalogv1.PutCampaignRequest{
		Id: uuid.NewString(), TenantId: f.tenant, BrandId: f.brand, Name: "Rain", Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
	}
	for _, gift := range gifts {
		offering := &catalogv1.OfferingInput{ProductId: gift.GetId(), SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_ON_DEMAND}
		var stock *int32
		if units >= 0 {
			offering.SupplyType, stock = catalogv1.SupplyType_SUPPLY_TYPE_STOCKED, &units
		}
		for _, dimension := range gift.GetVariations() {
			for _, size := range dimension.GetValues() {
				offering.Skus = append(offering.Skus, &catalogv1.SkuInput{Variations: map[string]string{"Size": size}, InitialStock: stock})
			}
		}
		if len(offering.GetSkus()) == 0 {
			offering.Skus = []*catalogv1.SkuInput{{InitialStock: stock}}
		}
		campaign.Offerings = append(campaign.Offerings, offering)
	}
	f.putCampaign(t, campaign)
	return campaign
}

// offerings reads those of a campaign.
func (f *fixture) offerings(t *testing.T, campaign *catalogv1.PutCampaignRequest, query string) (out []record) {
	t.Helper()
	for _, offering := range f.read(t, "/campaigns/"+campaign.GetId()+query)["offerings"].([]any) {
		out = append(out, offering.(record))
	}
	return out
}

// stockOf reads the stock of each SKU of a campaign's first offering.
func (f *fixture) stockOf(t *testing.T, campaign *catalogv1.PutCampaignRequest) []any {
	t.Helper()
	return membersOf(f.offerings(t, campaign, "")[0]["skus"], "stockRemaining")
}

// membersOf are the member of each record of a list.
func membersOf(list any, name string) (out []any) {
	for _, one := range list.([]any) {
		out = append(out, one.(record)[name])
	}
	return out
}

func testCampaigns(t *testing.T, p *platform) {
	f := newFixture(t, p)
	shown := f.richGift(t)
	shown.Variations = shown.GetVariations()[:1]
	f.putProduct(t, shown)
	plain, gone := f.putGift(t, "S"), f.putGift(t, "S")
	stocked := f.campaign(t, 5, plain, shown, gone)
	free := f.campaign(t, -1, plain)
	free.ExpiresAt = timestamppb.New(time.Now().Add(time.Hour).Truncate(time.Second))
	f.putCampaign(t, free)
	f.putInState(t, gone, archived)
	campaign := f.read(t, "/campaigns/"+stocked.GetId())
	offerings := f.offerings(t, stocked, "")

	requirement(t, "CAM-1", func(t *testing.T) {
		for _, summary := range f.list(t, f.key, "/campaigns") {
			require.ElementsMatch(t, []string{"id", "brandId", "name", "status", "expiresAt"}, namesOf(summary))
		}
		require.Equal(t, []any{stocked.GetId(), f.brand, "Rain"}, []any{campaign["id"], campaign["brandId"], campaign["name"]})
	})
	requirement(t, "CAM-3", func(t *testing.T) {
		requireNull(t, campaign, "expiresAt")
		require.Equal(t, free.GetExpiresAt().AsTime().Format(time.RFC3339), f.read(t, "/campaigns/"+free.GetId())["expiresAt"])
	})
	requirement(t, "CAM-4", func(t *testing.T) {
		require.Equal(t, []any{plain.GetId(), shown.GetId(), gone.GetId()}, column(offerings, "productId"))
	})
	requirement(t, "CAM-5", func(t *testing.T) { require.Equal(t, shown.GetId(), offerings[1]["productId"]) })
	requirement(t, "CAM-7", func(t *testing.T) {
		require.Equal(t, "Blanket", offerings[1]["name"])
		translated := f.offerings(t, stocked, "?locale=sv-SE")
		require.Equal(t, []any{"Filt", "Umbrella"}, []any{translated[1]["name"], translated[0]["name"]})
	})
	requirement(t, "CAM-8", func(t *testing.T) {
		images, _ := offerings[1]["images"].([]any)
		require.Len(t, images, 3)
		for _, image := range images {
			require.Equal(t, http.StatusOK, harness.Visit(t, image.(record)["url"].(string)).Status)
		}
	})
	requirement(t, "CAM-9", func(t *testing.T) {
		require.Equal(t, []any{"ACTIVE", "NEEDS_REVIEW"}, []any{offerings[0]["status"], offerings[2]["status"]})
	})
	f.testSupply(t, stocked, free)
	requirement(t, "CAM-6", func(t *testing.T) {
		require.Equal(t, http.StatusOK, f.Get(t, f.key, "/campaigns/"+free.GetId()+"?locale=de-DE").Status)
		f.Get(t, f.key, "/campaigns/"+free.GetId()+"?locale=fr-FR").Invalid(t, "locale not_enabled")
	})
	requirement(t, "CAM-14", func(t *testing.T) {
		for _, reader := range []string{newFixture(t, p).key, f.newKey(t, ofBrand(f.other))} {
			f.Get(t, reader, "/campaigns/"+free.GetId()).Problem(t, "not_found")
		}
		f.Get(t, f.key, "/campaigns/"+uuid.NewString()).Problem(t, "not_found")
	})
}

// testSupply reads the stock of a campaign with stock and of one on demand.
func (f *fixture) testSupply(t *testing.T, stocked, free *catalogv1.PutCampaignRequest) {
	offerings, onDemand := f.offerings(t, stocked, ""), f.offerings(t, free, "")[0]
	requirement(t, "CAM-10", func(t *testing.T) {
		require.Equal(t, []any{"STOCKED", "ON_DEMAND"}, []any{offerings[0]["supplyType"], onDemand["supplyType"]})
	})
	requirement(t, "CAM-15", func(t *testing.T) {
		require.Equal(t, []any{record{"Size": "S"}, record{"Size": "M"}}, membersOf(offerings[1]["skus"], "variations"))
	})
	requirement(t, "CAM-12", func(t *testing.T) {
		f.place(t, ofCampaign(stocked.GetId()), ofGift(offerings[1]["productId"].(string), small()))
		require.Equal(t, []any{4.0, 5.0}, membersOf(f.offerings(t, stocked, "")[1]["skus"], "stockRemaining"))
		require.Equal(t, []any{nil}, f.stockOf(t, free))
	})
	requirement(t, "CAM-11", func(t *testing.T) {
		for range 3 {
			f.place(t, ofCampaign(free.GetId()), ofGift(onDemand["productId"].(string), small()))
		}
		require.Equal(t, []any{nil}, f.stockOf(t, free))
	})
	requirement(t, "CAM-13", func(t *testing.T) {
		require.ElementsMatch(t, []string{"productId", "name", "images", "status", "supplyType", "skus"}, namesOf(offerings[1]))
		require.ElementsMatch(t, []string{"id", "variations", "stockRemaining"}, namesOf(at(offerings[1], "skus.0").(record)))
	})
}

func testCampaignStates(t *testing.T, p *platform) {
	f := newFixture(t, p)
	gift := f.putGift(t, "S")
	status := func(c *catalogv1.PutCampaignRequest) any { return f.read(t, "/campaigns/"+c.GetId())["status"] }
	draft, ended, expired := f.campaign(t, -1, gift), f.campaign(t, -1, gift), f.campaign(t, -1, gift)
	draft.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
	ended.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED
	expired.ExpiresAt = timestamppb.New(time.Now().Add(300 * time.Millisecond))
	for _, c := range []*catalogv1.PutCampaignRequest{draft, ended, expired} {
		f.putCampaign(t, c)
	}
	requirement(t, "CAM-2", func(t *testing.T) {
		require.Equal(t, []any{"DRAFT", "ACTIVE", "COMPLETED"}, []any{status(draft), status(f.campaign(t, -1, gift)), status(ended)})
	})
	requirement(t, "CST-1", func(t *testing.T) {
		require.Eventually(t, func() bool { return status(expired) == "COMPLETED" }, harness.Slow, 50*time.Millisecond)
	})
	requirement(t, "CST-4", func(t *testing.T) {
		f := newFixture(t, p)
		c := f.campaign(t, -1, gift)
		c.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
		c.ExpiresAt = timestamppb.New(time.Now().Add(-time.Hour).Truncate(time.Second))
		f.putCampaign(t, c)
		require.Equal(t, "COMPLETED", f.read(t, "/campaigns/"+c.GetId())["status"])
		for filter, want := range map[string]int{"": 1, "?status=COMPLETED": 1, "?status=DRAFT": 0, "?status=ACTIVE": 0} {
			require.Len(t, f.list(t, f.key, "/campaigns"+filter), want, filter)
		}
	})
	requirement(t, "CST-2", func(t *testing.T) {
		for _, c := range []*catalogv1.PutCampaignRequest{draft, ended, expired} {
			f.refuse(t, "campaign_not_active", ofCampaign(c.GetId()), ofGift(gift.GetId(), small()))
		}
	})
	requirement(t, "CHO-28", func(t *testing.T) {
		suspended, current := f.putGift(t, "S"), f.putGift(t, "S")
		campaign := f.campaign(t, 1, suspended, current)
		f.putInState(t, suspended, archived)
		f.refuse(t, "product_not_available", ofCampaign(campaign.GetId()), ofGift(suspended.GetId(), small()))
		from := all(ofCampaign(campaign.GetId()), ofGift(current.GetId(), small()))
		f.refuse(t, "not_deliverable_to_country", from, with("recipient.address.country", "FI"))
		f.refuse(t, "invalid_variations", from, with("items.0.variations.Size", "XXL"))
		f.place(t, ofCampaign(campaign.GetId()), ofGift(current.GetId(), record{"Size": "S"}))
	})
	f = newFixture(t, p)
	requirement(t, "CHO-71", func(t *testing.T) {
		first, second := f.campaign(t, -1, gift), f.campaign(t, -1, gift)
		draft := f.campaign(t, -1, gift)
		draft.Status, draft.BrandId = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT, f.other
		f.putCampaign(t, draft)
		for query, want := range map[string][]any{
			"?limit=2": {draft.GetId(), second.GetId(), first.GetId()}, "?brandId=" + f.other: {draft.GetId()},
			"?status=ACTIVE": {second.GetId(), first.GetId()}, "?status=COMPLETED": {}, "?brandId=" + uuid.NewString(): {},
		} {
			require.Equal(t, want, ids(f.All(t, f.key, "/campaigns"+query)...), query)
		}
		for query, violation := range map[string]string{
			"?status=RUNNING": "status invalid", "?brandId=x": "brandId invalid", "?limit=0": "limit invalid", "?after=x": "after invalid",
		} {
			f.Get(t, f.key, "/campaigns"+query).Invalid(t, violation)
		}
	})
}

// testStock places five hundred orders for a hundred units concurrently, and cancels those that got one. It uses several keys
// because of the rate limit.
func testStock(t *testing.T, p *platform) {
	const orders, units, keys = 500, 100, 4
	f := newFixture(t, p)
	gift := f.putGift(t)
	campaign := f.campaign(t, units, gift)
	from := all(ofCampaign(campaign.GetId()), ofGift(gift.GetId()))
	requests, answers := make([]call, orders), make([]answer, orders)
	for i := range requests {
		requests[i] = f.postCall("/orders", f.body(t, from))
		if i < keys {
			requests[i].Key = f.newKey(t)
		} else {
			requests[i].Key = requests[i%keys].Key
		}
	}
	requirement(t, "CHO-40", func(t *testing.T) {
		var group errgroup.Group
		for i, request := range requests {
			group.Go(func() error {
				answers[i] = p.Send(t, request)
				return nil
			})
		}
		require.NoError(t, group.Wait())
		var placed []call
		for i, a := range answers {
			if a.Status >= 300 {
				a.Problem(t, "out_of_stock")
				continue
			}
			cancel := f.postCall("/orders/"+idOf(a.Object(t))+":cancel", `{"reason": "Not needed."}`)
			cancel.Key = requests[i].Key
			placed = append(placed, cancel)
		}
		require.Len(t, placed, units)
		require.Equal(t, []any{0.0}, f.stockOf(t, campaign))
		for _, cancel := range placed {
			p.Send(t, cancel).OK(t)
		}
		require.Eventually(t, func() bool { return f.stockOf(t, campaign)[0] == float64(units) }, harness.Slow, 100*time.Millisecond)
	})
	one := f.campaign(t, 1, gift)
	from = all(ofCampaign(one.GetId()), ofGift(gift.GetId()))
	requirement(t, "CHO-39", func(t *testing.T) {
		cancelled := idOf(f.place(t, from))
		f.cancel(t, "/orders/"+cancelled)
		holder := idOf(f.place(t, from))
		require.Error(t, f.tryCorrectStatus(t, cancelled, processing))
		require.Equal(t, "CANCELLED", f.read(t, "/orders/"+cancelled)["status"])
		f.cancel(t, "/orders/"+holder)
		require.NoError(t, f.tryCorrectStatus(t, cancelled, processing))
		require.Equal(t, []any{0.0}, f.stockOf(t, one))
	})
	requirement(t, "CHO-41", func(t *testing.T) {
		plenty := f.putGift(t)
		campaign := f.campaign(t, 1, gift, plenty)
		link := f.link(t, fromCampaign(campaign.GetId()))
		request := f.choiceOf(t, link)
		require.Equal(t, gift.GetId(), request.GetProductId())
		f.place(t, all(ofCampaign(campaign.GetId()), ofGift(gift.GetId())))
		_, err := f.GiftSite(t).ClaimLink(t.Context(), request)
		require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
		require.Equal(t, link, f.read(t, "/personal-links/"+idOf(link)))
		require.Equal(t, plenty.GetId(), at(f.orderOf(t, f.claim(t, link)), "items.0.productId"))
	})
}
