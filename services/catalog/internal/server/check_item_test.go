package server_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestACatalogChangeSuspendsTheOffering(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	c := campaign(offering(p.GetId(), onDemand, nil, "S"))
	f.putCampaign(c)
	item := &catalogv1.CheckItemRequest{
		TenantId: tenantID, AllBrands: true, CampaignId: text(c.GetId()), ProductId: p.GetId(),
		Country: "SE", Variations: map[string]string{"Size": "S"},
	}
	call(f, f.ordering.CheckItem, item)

	p.Variations[0].Values = []string{"S", "L"}
	f.put(p)
	call(f, f.ordering.CheckItem, item) // The offered size still exists.
	p.Variations[0].Values = []string{"M"}
	f.put(p)
	p.Variations[0].Values = []string{"S", "M"}
	f.put(p)
	refused(f, problem.ProductNotAvailable, f.ordering.CheckItem, item) // The gift lost the size, and the offering was not reviewed.
	f.putCampaign(c)
	call(f, f.ordering.CheckItem, item) // Putting the campaign again is the review.

	p.State = archived
	f.put(p)
	refused(f, problem.ProductNotAvailable, f.ordering.CheckItem, item)
	f.putCampaign(c)
	p.State = published
	f.put(p)
	refused(f, problem.ProductNotAvailable, f.ordering.CheckItem, item) // The review happened while the gift was archived.
	f.putCampaign(c)
	call(f, f.ordering.CheckItem, item)
}

// preview returns the codes of the problems of an item.
func (f *fixture) preview(item *catalogv1.CheckItemRequest) (codes []string) {
	f.t.Helper()
	for _, p := range call(f, f.ordering.PreviewItem, &catalogv1.PreviewItemRequest{Item: item, Currency: "SEK"}).GetProblems() {
		codes = append(codes, p.GetCode())
	}
	return codes
}

func TestAPreviewReportsEveryProblemInTheOrderOfTheTable(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p, hidden := gift(), gift(withState(draft))
	elsewhere := gift(func(p *catalogv1.PutProductRequest) { p.CustomizationAvailable = true })
	for _, one := range []*catalogv1.PutProductRequest{p, elsewhere, hidden} {
		f.put(one)
	}
	past := time.Now().Add(-time.Second)
	expired := f.campaignIn(running, &past, offering(p.GetId(), stocked, limit(0), "S"))
	withdrawn := f.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "S", "M"))
	call(f, f.campaigns.PutOffering, &catalogv1.PutOfferingRequest{
		TenantId: tenantID, CampaignId: withdrawn, Offering: offering(p.GetId(), onDemand, nil, "S"), Actor: staff(),
	})
	good := &catalogv1.CheckItemRequest{
		TenantId: tenantID, AllBrands: true, CampaignId: text(f.campaignIn(running, nil, offering(p.GetId(), stocked, limit(1), "S"))),
		ProductId: p.GetId(), Country: "SE", Variations: map[string]string{"Size": "S"},
	}
	for name, tc := range map[string]struct {
		change func(r *catalogv1.CheckItemRequest)
		want   []string
	}{
		"none":                        {func(*catalogv1.CheckItemRequest) {}, nil},
		"none for a key of the brand": {func(r *catalogv1.CheckItemRequest) { r.AllBrands, r.BrandIds = false, []string{brandID} }, nil},
		"none of the catalog, with the customization that the gift allows": {func(r *catalogv1.CheckItemRequest) {
			r.CampaignId, r.ProductId, r.Customization = nil, elsewhere.GetId(), true
		}, nil},
		"all of a campaign": {func(r *catalogv1.CheckItemRequest) {
			r.CampaignId, r.BrandId, r.Country, r.Customization = &expired, text(uuid.NewString()), "FI", true
		}, []string{"invalid_request", "brand_campaign_mismatch", "campaign_not_active", "not_deliverable_to_country", "out_of_stock"}},
		"a combination that was withdrawn": {func(r *catalogv1.CheckItemRequest) {
			r.CampaignId, r.Variations = &withdrawn, map[string]string{"Size": "M"}
		}, []string{"invalid_variations"}},
		"a gift that the campaign does not offer": {func(r *catalogv1.CheckItemRequest) {
			r.ProductId, r.Country, r.Variations = elsewhere.GetId(), "FI", nil
		}, []string{"product_not_in_campaign", "not_deliverable_to_country", "invalid_variations"}},
		"a gift that is hidden and not offered, of which no more is said": {func(r *catalogv1.CheckItemRequest) {
			r.ProductId, r.Country, r.Variations, r.Customization = hidden.GetId(), "FI", nil, true
		}, []string{"product_not_in_campaign", "product_not_available"}},
		"a campaign out of reach, of whose stock nothing is said": {func(r *catalogv1.CheckItemRequest) {
			r.CampaignId, r.AllBrands, r.Country = &expired, false, "FI"
		}, []string{"campaign_not_found", "not_deliverable_to_country"}},
		"a campaign of another tenant": {
			func(r *catalogv1.CheckItemRequest) { r.TenantId = otherTenantID }, []string{"campaign_not_found"},
		},
		"variations that are not offered have no stock": {func(r *catalogv1.CheckItemRequest) {
			r.CampaignId, r.Variations = &expired, map[string]string{"Size": "M"}
		}, []string{"campaign_not_active", "invalid_variations"}},
		"nothing known": {func(r *catalogv1.CheckItemRequest) {
			r.CampaignId, r.ProductId, r.Country, r.Variations = text("x"), "x", "x", nil
		}, []string{"campaign_not_found", "product_not_available"}},
	} {
		t.Run(name, func(t *testing.T) {
			req := proto.CloneOf(good)
			tc.change(req)
			got := f.preview(req)
			require.Equal(t, tc.want, got)
			_, err := f.ordering.CheckItem(t.Context(), req)
			if len(got) == 0 || got[0] == "out_of_stock" {
				require.NoError(t, err)
				return
			}
			require.True(t, problem.Is(err, problem.Code(got[0])), "CheckItem reports the first: %v", err)
		})
	}
	require.Equal(t, codes{"tenantId": problem.FieldInvalid}, violations(f, f.ordering.CheckItem, &catalogv1.CheckItemRequest{}))
}

func TestAPreviewReservesNothingAndKnowsTheStock(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	p := gift()
	f.put(p)
	id := f.campaignIn(running, nil, offering(p.GetId(), stocked, limit(1), "S"))
	item := &catalogv1.CheckItemRequest{
		TenantId: tenantID, AllBrands: true, CampaignId: &id, ProductId: p.GetId(), Country: "SE",
		Variations: map[string]string{"Size": "S"},
	}
	before := pgtest.Contents(t, f.db)
	require.Empty(t, f.preview(item))
	require.Empty(t, f.preview(item))
	require.Equal(t, before, pgtest.Contents(t, f.db))
	reservation := &catalogv1.ReserveRequest{
		ReservationKey: []byte("k"), OrderId: uuid.NewString(), TenantId: tenantID, CampaignId: id, ProductId: p.GetId(),
		Variations: item.GetVariations(),
	}
	call(f, f.ordering.Reserve, reservation)
	require.Equal(t, []string{"out_of_stock"}, f.preview(item))
	call(f, f.ordering.CheckItem, item) // An order that already holds its unit passes.
}

func TestAPreviewHasTheEstimateOfTheCatalog(t *testing.T) {
	t.Parallel()
	for name, setup := range environments {
		t.Run(name, func(t *testing.T) { testEstimates(t, setup(t)) })
	}
}

// testEstimates has a gift that the tenant unlists, where it can.
func testEstimates(t *testing.T, f *fixture) {
	t.Helper()
	f.putRegion("NORDICS", "SE")
	f.putRate("SEK", "11.25")
	priced, unpriced, hidden, unlisted := gift(), gift(), gift(withState(draft)), gift()
	for _, p := range []*catalogv1.PutProductRequest{priced, hidden, unlisted} {
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "39.90"}}
	}
	for _, p := range []*catalogv1.PutProductRequest{priced, unpriced, hidden, unlisted} {
		f.put(p)
	}
	ofUnlisted := "448.88 SEK 39.90 EUR"
	if f.sandboxed {
		f.unlist(t, unlisted.GetId())
		ofUnlisted = "  "
	}
	for name, tc := range map[string]struct{ product, country, want string }{
		"a gift with a price":           {priced.GetId(), "SE", "448.88 SEK 39.90 EUR"},
		"a gift without one":            {unpriced.GetId(), "SE", "  "},
		"a country without region":      {priced.GetId(), "FI", "  "},
		"a gift that is not listed":     {hidden.GetId(), "SE", "  "},
		"one that this tenant may hide": {unlisted.GetId(), "SE", ofUnlisted},
		"neither gift nor country":      {"x", "x", "  "},
		"a gift that nobody has seen":   {uuid.NewString(), "SE", "  "},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(f, f.ordering.PreviewItem, &catalogv1.PreviewItemRequest{
				Item: &catalogv1.CheckItemRequest{TenantId: tenantID, ProductId: tc.product, Country: tc.country}, Currency: "SEK",
			})
			text := got.GetEstimate().GetAmount() + " " + got.GetEstimate().GetCurrency()
			if got.GetEstimateEur() != nil {
				text += " " + got.GetEstimateEur().GetAmount() + " " + got.GetEstimateEur().GetCurrency()
			} else {
				text += " "
			}
			require.Equal(t, tc.want, text)
		})
	}
	t.Run("a tenant id that is no UUID", func(t *testing.T) {
		require.Equal(t, codes{
			"item.tenantId": problem.FieldInvalid,
		}, violations(f, f.ordering.PreviewItem, &catalogv1.PreviewItemRequest{}))
	})
}
